/* peers/peaks.c: what this machine can do at most, one thread: a line `NAME NUMBER` each, 1e9/s. */
#include <attn/attn.h>
#include <tools/peak.h>

#include <stdio.h>

int main(void) {
    attn_tier_t tiers[8];
    const uint32_t count = attn_available_tiers(tiers, sizeof tiers / sizeof tiers[0]);
    if (count == 0 || count > sizeof tiers / sizeof tiers[0]) return 1;
    for (uint32_t i = 0; i < count; i++)
        printf("%s %.6g\n", attn_tier_name(tiers[i]), peak_gflops(tiers[i]));
    printf("flops %.6g\n", peak_gflops(tiers[count - 1]));
    printf("read %.6g\n", peak_read_gbps(tiers[count - 1]));
    return 0;
}
