/*
 * cli/lab/style.h: the looks of figures and of the report, light and dark.
 */
#ifndef ATTN_CLI_LAB_STYLE_H
#define ATTN_CLI_LAB_STYLE_H

/** CSS for a figure, which an SVG carries along; all of it is about what is inside of .figure. */
extern const char figure_style[];

/** CSS for the report around them. */
extern const char report_style[];

#endif
