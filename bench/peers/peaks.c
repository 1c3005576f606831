/*
 * peers/peaks.c: what this machine can do at most: a line `NAME NUMBER` each, 1e9/s. `read2` is
 * of two threads that read at the same time, the others of one. `state` counts what is read and what is written.
 */
#include <attn/attn.h>
#include <measure/peak.h>

#include <math.h>
#include <stdio.h>

enum { READS = 5 };

static double read_by_two(attn_tier_t tier) {
    peak_read_t reads[PEAK_MOST_READS];
    double best = 0;
    const int count = peak_reads(tier, 2, READS, 1, reads);
    for (int i = 0; i < count; i++) best = fmax(best, reads[i].gbps);
    return best;
}

int main(void) {
    attn_tier_t tiers[8];
    const uint32_t tier_count = attn_available_tiers(tiers, sizeof tiers / sizeof tiers[0]);
    if (tier_count == 0 || tier_count > sizeof tiers / sizeof tiers[0]) return 1;
    const attn_tier_t best = tiers[tier_count - 1];
    for (uint32_t i = 0; i < tier_count; i++)
        printf("%s %.6g\n", attn_tier_name(tiers[i]), peak_gflops(tiers[i], 1));
    printf("flops %.6g\n", peak_gflops(best, 1));
    printf("read %.6g\n", peak_read_gbps(best, 1));
    printf("state %.6g\n", peak_update_gbps(best));
    printf("read2 %.6g\n", read_by_two(best));
    return 0;
}
