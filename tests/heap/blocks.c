/*
 * The heap of the WebAssembly module (wasm/src/blocks.h) in a memory of 4 GiB that is reserved and not
 * there: what has not been grown to faults. Random requests of all sizes, against a list of what is in
 * use; the row of blocks and its lists are walked, and a refusal must be right.
 */
#define _DEFAULT_SOURCE
#include "attn/random.h"
#include "support/test.h"

#include <string.h>
#include <sys/mman.h>

enum { FIRST_PAGES = 2, MOST_LIVE = 400, STEPS = 4000 };

static unsigned char *memory;
static uint32_t pages, most_pages;

static inline void *blocks_at(uint32_t address) { return memory + address; }

static inline uint32_t blocks_pages(void) { return pages; }

static int blocks_grow(uint32_t more) {
    if (more > most_pages - pages) return 0;
    const size_t from = (size_t)pages << 16;
    assert_int_equal(mprotect(memory + from, (size_t)more << 16, PROT_READ | PROT_WRITE), 0);
    pages += more;
    return 1;
}

#include "blocks.h"

typedef struct piece {
    uint32_t at, size;
} piece_t;

static blocks_t blocks;
static uint32_t first;
static piece_t live[MOST_LIVE];
static size_t live_count;
static uint64_t stream, draws;

static uint32_t below(uint32_t limit) {
    return (uint32_t)(attn_random_uniform(test_seed(), stream, draws++) * limit);
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* ---- what must hold -------------------------------------------------------------------------- */

static unsigned char mark_of(uint32_t at) { return (unsigned char)(at >> 4 | 1); }

/* The ends of a piece alone, so that little of the memory is ever there. */
static void mark(piece_t piece) {
    const uint32_t end = least(piece.size, 64);
    memset(memory + piece.at, mark_of(piece.at), end);
    memset(memory + piece.at + (piece.size - end), mark_of(piece.at), end);
}

static void check_mark(piece_t piece) {
    const uint32_t end = least(piece.size, 64);
    for (uint32_t i = 0; i < end; i++)
        if (memory[piece.at + i] != mark_of(piece.at) ||
            memory[piece.at + (piece.size - 1 - i)] != mark_of(piece.at))
            test_fail("%u bytes at %u were written to", piece.size, piece.at);
}

static void check_apart(piece_t piece) {
    const uint64_t end = (uint64_t)piece.at + piece.size;
    if (piece.at < first || end > (uint64_t)pages << 16)
        test_fail("%u bytes at %u lie outside", piece.size, piece.at);
    for (size_t i = 0; i < live_count; i++)
        if (live[i].at < end && piece.at < (uint64_t)live[i].at + live[i].size)
            test_fail("%u bytes at %u lie over %u at %u", piece.size, piece.at, live[i].size,
                      live[i].at);
}

/* The row of blocks; returns how many are free. */
static size_t check_row(void) {
    uint64_t at = (first + 15) / 16 * 16 + 8;
    uint32_t before = 0;
    size_t free_blocks = 0;
    int free_before = 0;
    while (at != blocks.tail) {
        const block_t *block = blocks_header((uint32_t)at);
        const int is_free = !(block->size & BLOCKS_USED);
        const uint32_t size = block->size & ~(uint32_t)BLOCKS_USED;
        assert_int_equal(block->before, before);
        assert_true(size >= 16 && size % 16 == 0 && at + size <= blocks.tail);
        assert_false(is_free && free_before);
        free_blocks += (size_t)is_free;
        free_before = is_free;
        before = size;
        at += size;
    }
    assert_int_equal(blocks_header(blocks.tail)->before, before);
    assert_int_equal((uint64_t)blocks.tail + 8, (uint64_t)pages << 16);
    return free_blocks;
}

static size_t count_listed(void) {
    size_t count = 0;
    for (int list = 0; list < BLOCKS_LISTS; list++)
        for (uint32_t at = blocks.lists[list]; at; at = blocks_header(at)->next, count++)
            assert_true(blocks_header(at)->size >> list == 1);
    return count;
}

static uint64_t aligned(uint64_t at, uint32_t alignment) {
    return (at + alignment - 1) / alignment * alignment;
}

/* Nothing free would do, and neither would all memory that there may ever be. */
static void check_refusal(uint32_t alignment, uint32_t size) {
    uint64_t at = (first + 15) / 16 * 16 + 8, room_from = blocks.tail;
    while (at != blocks.tail) {
        const block_t *block = blocks_header((uint32_t)at);
        const uint64_t end = at + (block->size & ~(uint32_t)BLOCKS_USED);
        if (!(block->size & BLOCKS_USED)) {
            if (aligned(at + 8, alignment) + size <= end)
                test_fail("%u bytes were refused, and would fit at %u", size, (uint32_t)at);
            if (end == blocks.tail) room_from = at;
        }
        at = end;
    }
    if (aligned(room_from + 8, alignment) + size + 8 <= (uint64_t)most_pages << 16)
        test_fail("%u bytes were refused, and the memory could grow", size);
}

/* ---- requests -------------------------------------------------------------------------------- */

static void begin(uint32_t limit) {
    memory = mmap(memory, (size_t)1 << 32, PROT_NONE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (memory ? MAP_FIXED : 0), -1, 0);
    assert_true(memory != MAP_FAILED);
    pages = 0;
    most_pages = limit;
    assert_true(blocks_grow(FIRST_PAGES));
    live_count = 0;
    first = 1 + below(60000);
    blocks = (blocks_t){0};
    blocks_begin(&blocks, first);
}

static int take(uint32_t alignment, uint32_t size) {
    const piece_t piece = {blocks_take(&blocks, alignment, size), size};
    if (piece.at == 0) {
        check_refusal(alignment, size);
        return 0;
    }
    assert_int_equal(piece.at % alignment, 0);
    check_apart(piece);
    mark(piece);
    live[live_count++] = piece;
    return 1;
}

static void give(size_t i) {
    check_mark(live[i]);
    blocks_give(&blocks, live[i].at);
    live[i] = live[--live_count];
}

static void check(void) { assert_int_equal(check_row(), count_listed()); }

/* Sizes of all magnitudes up to 2^bits. */
static void random_requests(uint32_t limit, uint32_t bits) {
    size_t refused = 0;
    stream++;
    draws = 0;
    begin(limit);
    for (int step = 0; step < STEPS; step++) {
        const uint32_t alignment = 16u << below(8);
        const uint32_t size = below(UINT32_MAX >> (32 - 4 - below(bits - 3)));
        test_label("request %d of stream %d: %u bytes", step, (int)stream, size);
        if (live_count == MOST_LIVE || !take(alignment, size)) {
            refused += live_count < MOST_LIVE;
            for (int i = 0; i < 3 && live_count; i++) give(below((uint32_t)live_count));
        } else if (below(3) == 0) {
            give(below((uint32_t)live_count));
        }
        if (step % 16 == 0) check();
    }
    assert_true(refused > 20);
    while (live_count) give(live_count - 1);
    check();
    assert_int_equal(count_listed(), 1); /* in one piece */
    assert_true(take(16, (uint32_t)(((uint64_t)pages << 16) - first - 64)));
}

static void test_random(void **state) {
    (void)state;
    random_requests(FIRST_PAGES + 3, 18);
    random_requests(300, 24);
    for (int i = 0; i < 4; i++) random_requests(65536, 32);
}

/* What wraps elsewhere: a hole near the end, and requests that reach past 2^32 from there. */
static void test_wrap(void **state) {
    (void)state;
    begin(65536);
    for (int i = 0; i < 165; i++) assert_true(take(64, 20000000));
    assert_true(take(64, 20000000) && take(64, 20000000));
    give(165);
    for (uint32_t size = 30000000; size < UINT32_MAX - 7777777; size += 7777777)
        if (size > 1000000000) assert_false(take(64, size));
    for (uint32_t less = 0; less < 300; less++) assert_false(take(64, UINT32_MAX - less));
    check();
}

/* To the last byte: the tail is all that is lost. */
static void test_last_byte(void **state) {
    (void)state;
    begin(65536);
    const uint64_t from = (first + 15) / 16 * 16 + 16, all = ((uint64_t)1 << 32) - 8 - from;
    assert_false(take(16, (uint32_t)all + 1));
    assert_true(take(16, (uint32_t)all));
    assert_int_equal(blocks.tail, UINT32_MAX - 7);
    assert_false(take(16, 0));
    give(0);
    assert_true(take(16, 100));
    assert_true(take(16, (uint32_t)all - 112 - 8));
    assert_false(take(16, 0));
}

/* An alignment that is no power of two is refused. */
static void test_alignment(void **state) {
    (void)state;
    begin(65536);
    assert_int_equal(blocks_take(&blocks, 48, 10), 0);
    assert_true(blocks_take(&blocks, 0, 10) % 16 == 0);
    check();
}

TEST_MAIN(cmocka_unit_test(test_random), cmocka_unit_test(test_wrap),
          cmocka_unit_test(test_last_byte), cmocka_unit_test(test_alignment))
