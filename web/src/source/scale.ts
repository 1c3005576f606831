/** The scale of a trained model's attention, whatever backend that is; the linear one's own would be 1. */
export function modelScale(dim: number): number {
    return 1 / Math.sqrt(dim);
}
