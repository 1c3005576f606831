/*
 * cli/lab/style.h: the looks of figures and of the report, light and dark.
 */
#ifndef ATTN_CLI_LAB_STYLE_H
#define ATTN_CLI_LAB_STYLE_H

typedef struct style_colour {
    unsigned char red, green, blue;
} style_colour_t;

enum { STYLE_LIGHT, STYLE_DARK, STYLE_SCHEMES };

/** What figure_style has for .paper and .tile, by scheme. */
extern const style_colour_t style_paper[STYLE_SCHEMES], style_tile[STYLE_SCHEMES];

/** Whether white is easier to read than black on a .tile of this opacity on .paper. */
int style_wants_white(int scheme, double opacity);

/** CSS for a figure, which an SVG carries along; all of it is about what is inside of .figure. */
extern const char figure_style[];

/** CSS for the report around them. */
extern const char report_style[];

#endif
