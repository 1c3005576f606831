/* labs/reasoning/grid.c: the sizes and widths of the lab reasoning, and its cells by their numbers. */
#include "labs/reasoning/lab.h"
#include "labs/reasoning/task.h"

/* A task's sizes, and the widths at which they are tried. */
typedef struct problems {
    reasoning_numbers_t sizes, widths;
} problems_t;

#define LAPTOP REASONING_NUMBERS(16, 32, 64)
#define PAPER REASONING_NUMBERS(32, 64, 128, 256, 512, 1024)
static const problems_t problems[2][REASONING_KINDS] = {
    {
        [REASONING_LIS] = {REASONING_NUMBERS(6, 10, 16), LAPTOP},
        [REASONING_ED] = {REASONING_NUMBERS(3, 4, 6), LAPTOP},
        [REASONING_ED_LOCAL] = {REASONING_NUMBERS(3, 4, 6), LAPTOP},
        [REASONING_ARITHMETIC] = {REASONING_NUMBERS(2, 3, 4), LAPTOP},
    },
    {
        [REASONING_LIS] = {REASONING_NUMBERS(40, 110, 175, 250), PAPER},
        [REASONING_ED] = {REASONING_NUMBERS(6, 12, 16, 20), PAPER},
        [REASONING_ED_LOCAL] = {REASONING_NUMBERS(6, 12, 16, 20), PAPER},
        [REASONING_ARITHMETIC] = {REASONING_NUMBERS(6, 10, 13, 16),
                                  REASONING_NUMBERS(32, 64, 128, 256, 512)},
    },
};

const char *reasoning_attention(int32_t attention) {
    static const char *const names[REASONING_ATTENTIONS] = {"softmax", "linear", "sparse"};
    return names[attention];
}

static problems_t problems_of(const reasoning_grid_t *grid, int32_t task) {
    problems_t of = problems[grid->paper != 0][task];
    if (grid->sizes.count) of.sizes = grid->sizes;
    if (grid->widths.count) of.widths = grid->widths;
    return of;
}

static uint32_t cells_of(const reasoning_grid_t *grid, int32_t task) {
    const problems_t of = problems_of(grid, task);
    return (uint32_t)(of.sizes.count * grid->attentions.count * of.widths.count);
}

uint32_t reasoning_cell_count(const reasoning_grid_t *grid) {
    uint32_t count = 0;
    for (int32_t i = 0; i < grid->tasks.count; i++) count += cells_of(grid, grid->tasks.items[i]);
    return count;
}

reasoning_cell_t reasoning_cell_at(const reasoning_grid_t *grid, uint32_t number, uint64_t seed) {
    const uint32_t all = reasoning_cell_count(grid);
    const int32_t *task = grid->tasks.items;
    uint32_t left = number % all;
    for (; left >= cells_of(grid, *task); task++) left -= cells_of(grid, *task);
    const problems_t of = problems_of(grid, *task);
    const uint32_t widths = (uint32_t)of.widths.count;
    const uint32_t models = (uint32_t)grid->attentions.count * widths;
    return (reasoning_cell_t){
        .task = *task,
        .size = of.sizes.items[left / models],
        .attention = grid->attentions.items[left % models / widths],
        .width = of.widths.items[left % widths],
        .band = grid->bands.count ? grid->bands.items[task - grid->tasks.items] : 0,
        .seed = seed + number / all};
}
