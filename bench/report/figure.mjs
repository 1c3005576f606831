// A figure as columns of a table: a bar for each number, and how far it is above a straight line.

const LENGTH = 30; // of the longest bar
const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** As long as `share` of the longest bar, to an eighth of a character. */
export function bar(share) {
    const eighths = Math.round(8 * LENGTH * share);
    return "█".repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8];
}

/** y at each x beside the line from the point of the least x to that of the largest; 1 where they are one. */
export function besideLine(points) {
    const byX = points.toSorted((a, b) => a.x - b.x);
    const [first, last] = [byX[0], byX.at(-1)];
    const slope = last.x === first.x ? 0 : (last.y - first.y) / (last.x - first.x);
    return points.map(({ x, y }) => y / (first.y + slope * (x - first.x)));
}

/**
 * A table that says `figure: {x, y, by}`, names of its columns, with two columns more: bars of y, and y beside the line
 * over x. Rows with the same `by` are one figure. Other tables stay as they are.
 */
export function withFigure(given) {
    const { columns, rows, figure } = given;
    if (!figure) return given;
    const [x, y, by] = [figure.x, figure.y, figure.by].map((name) => columns.indexOf(name));
    const drawn = [...new Set(rows.map((row) => row[by]))].flatMap((name) => {
        const own = rows.filter((row) => row[by] === name);
        const beside = besideLine(own.map((row) => ({ x: Number(row[x]), y: row[y] })));
        const most = Math.max(...own.map((row) => row[y]));
        return own.map((row, i) => [...row, bar(row[y] / most), beside[i]]);
    });
    return { ...given, columns: [...columns, "", "times the straight line"], rows: drawn };
}
