/* cli/lab/figure.c: see figure.h. */
#include "cli/lab/figure.h"

#include "cli/lab/curves.h"
#include "cli/lab/frame.h"
#include "cli/lab/heatmap.h"
#include "cli/lab/style.h"
#include "cli/lab/text.h"

#include <stdlib.h>
#include <string.h>

/* In the units of the figure, as FRAME_WIDTH is. */
enum {
    MARGIN = 18,
    TITLE_LINE = 20,
    LEGEND_LINE = 19,
    CAPTION_LINE = 16,
};

typedef struct figure {
    const task_t *task;
    FILE *out;
    frame_t frame;
    double at; /* how far down the page is filled */
} figure_t;

/* ---- text ---------------------------------------------------------------------------------------- */

/*
 * About how wide a text is, rather too much: no font is at hand to ask. A UTF-8 character's further
 * bytes take nothing.
 */
static double text_width(const char *text, size_t length, double size) {
    double width = 0;
    for (size_t i = 0; i < length; i++) {
        if (((unsigned char)text[i] & 0xC0) == 0x80) continue;
        width += strchr("iljtfrI.,;:|!' ()", text[i]) ? 0.38
                 : strchr("mwMW%", text[i])           ? 0.95
                                                      : 0.63;
    }
    return width * size;
}

/* How much of a text goes on a line: whole words, at least one. */
static size_t line_length(const char *text, double size, double width) {
    size_t best = 0;
    for (size_t i = 0;; i++) {
        if (text[i] && text[i] != ' ') continue;
        if (best && text_width(text, i, size) > width) return best;
        best = i;
        if (!text[i]) return best;
    }
}

static void print_piece(FILE *out, const char *text, size_t length) {
    char piece[512];
    snprintf(piece, sizeof piece, "%.*s", (int)(length < 511 ? length : 511), text);
    xml_string(out, piece);
}

/* Paragraphs from the left margin, line by line. */
static void print_wrapped(figure_t *figure, const char *class, double size, double step,
                          const char *text) {
    while (*text) {
        const size_t length = line_length(text, size, FRAME_WIDTH - 2 * MARGIN);
        figure->at += step;
        fprintf(figure->out, "<text class=\"%s\" x=\"%d\" y=\"%.1f\">", class, MARGIN, figure->at);
        print_piece(figure->out, text, length);
        fputs("</text>\n", figure->out);
        text += length;
        text += strspn(text, " ");
    }
}

/* ---- legend -------------------------------------------------------------------------------------- */

/* A band's label names both its edges; "" when the band before it said the same. */
static const char *band_label(const lab_panel_t *panel, uint32_t low, char text[128]) {
    const char *from = panel->columns[low].label, *to = "";
    for (uint32_t i = 1; i < low; i++)
        if (panel->columns[i].mark == LAB_LOW && strcmp(panel->columns[i].label, from) == 0)
            return "";
    if (low + 1 < panel->column_count && panel->columns[low + 1].mark == LAB_HIGH)
        to = panel->columns[low + 1].label;
    if (!to[0] || strcmp(from, to) == 0) return from;
    snprintf(text, 128, "%s to %s", from, to);
    return text;
}

static const char *legend_label(const lab_panel_t *panel, uint32_t column, char text[128]) {
    const lab_column_t *info = &panel->columns[column];
    if (info->mark == LAB_HIDDEN || info->mark == LAB_HIGH) return "";
    return info->mark == LAB_LOW ? band_label(panel, column, text) : info->label;
}

enum { ENTRY_ZERO = LAB_FAINT + 1 }; /* a sample that is no column's mark */

/* A sample of the mark, and its name; `x` moves on, onto the next line where there is no room. */
static void print_entry(figure_t *figure, double *x, int mark, const char *classes,
                        const char *label) {
    enum { SAMPLE = 24, GAP = 7, SPACE = 20 };
    const double width = SAMPLE + GAP + text_width(label, strlen(label), 12);
    if (*x + width > FRAME_RIGHT && *x > FRAME_LEFT) {
        *x = FRAME_LEFT;
        figure->at += LEGEND_LINE;
    }
    const double y = figure->at + 12;
    if (mark == LAB_LOW || mark == LAB_HIDDEN)
        fprintf(figure->out,
                "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"11\"/>", classes,
                *x, y - 9.5, SAMPLE);
    else if (mark == ENTRY_ZERO)
        fprintf(figure->out, "<path class=\"%s\" d=\"M%.1f %.1fl-4 -7h8z\"/>", classes,
                *x + SAMPLE / 2, y);
    else if (mark != LAB_POINTS)
        fprintf(figure->out, "<path class=\"sample %s\" d=\"M%.1f %.1fh%d\"/>", classes, *x, y - 4,
                SAMPLE);
    if (mark == LAB_LINE || mark == LAB_POINTS)
        fprintf(figure->out, "<g class=\"dots %s\"><circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/></g>",
                classes, *x + SAMPLE / 2, y - 4);
    fprintf(figure->out, "<text x=\"%.1f\" y=\"%.1f\">", *x + SAMPLE + GAP, y);
    xml_string(figure->out, label);
    fputs("</text>\n", figure->out);
    *x += width + SPACE;
}

static void print_legend(figure_t *figure) {
    const lab_panel_t *panel = figure->task->run.panel;
    double x = FRAME_LEFT;
    int entries = 0;
    for (uint32_t c = 1; c < panel->column_count; c++) {
        char text[128], classes[48];
        const char *label = legend_label(panel, c, text);
        if (!label[0]) continue;
        print_entry(figure, &x, panel->columns[c].mark, curves_class(panel, c, classes), label);
        entries++;
    }
    if (curves_have_zeros(figure->task, &figure->frame.x, &figure->frame.y)) {
        print_entry(figure, &x, ENTRY_ZERO, "zero", "exactly 0");
        entries++;
    }
    if (frame_has_outside(&figure->frame, figure->task)) {
        print_entry(figure, &x, LAB_HIDDEN, "outside", "outside of the premises");
        entries++;
    }
    if (entries) figure->at += LEGEND_LINE;
}

/* ---- caption ------------------------------------------------------------------------------------- */

/* "NAME = VALUE" stays on one line. */
#define NO_BREAK "\u00A0"
#define NAME_IS "%s" NO_BREAK "=" NO_BREAK

static void print_finding(figure_t *figure, const lab_finding_t *finding) {
    const lab_panel_t *panel = figure->task->run.panel;
    const char *verdict = lab_verdict_name(finding->verdict);
    char line[1024], class[32];
    snprintf(line, sizeof line, "%s: %s", panel->flags & LAB_OWN ? "Our own claim" : "Claim",
             panel->claim);
    figure->at += 4;
    print_wrapped(figure, "claim", 12, CAPTION_LINE, line);
    if (panel->where) {
        snprintf(line, sizeof line, "Where: %s", panel->where);
        print_wrapped(figure, "claim", 12, CAPTION_LINE, line);
    }
    if (finding->verdict == LAB_SHOWN)
        snprintf(line, sizeof line, "An illustration, without a verdict (%s).", finding->sure);
    else
        snprintf(line, sizeof line, "Verdict: %s (%s).", verdict, finding->sure);
    snprintf(class, sizeof class, "verdict %s", verdict);
    print_wrapped(figure, class, 13.5, CAPTION_LINE, line); /* bold is wider */
    print_wrapped(figure, "claim", 12, CAPTION_LINE, finding->found);
    snprintf(line, sizeof line, "Criterion: %s", panel->criterion);
    print_wrapped(figure, "small", 11.5, CAPTION_LINE, line);
    if (!panel->ours) return;
    snprintf(line, sizeof line, "Ours, beyond the paper: %s", panel->ours);
    print_wrapped(figure, "small", 11.5, CAPTION_LINE, line);
}

static void print_caption(figure_t *figure, const char *note) {
    const lab_run_t *run = &figure->task->run;
    char line[1024], name[TASK_NAME], value[32], origin[320];
    size_t used = 0;
    for (uint32_t i = 0; i < run->lab->param_count && used < sizeof line; i++) {
        const attn_param_info_t *info = &run->lab->params[i];
        if (!task_has(figure->task, i)) continue;
        used += (size_t)snprintf(line + used, sizeof line - used, NAME_IS "%s%s%s, ", info->name,
                                 task_value(figure->task, i, value), info->unit[0] ? NO_BREAK : "",
                                 info->unit);
    }
    if (used < sizeof line)
        snprintf(line + used, sizeof line - used, NAME_IS "%llu", "seed",
                 (unsigned long long)run->seed);
    figure->at += 4;
    print_wrapped(figure, "small", 11.5, CAPTION_LINE, line);
    if (note[0]) print_wrapped(figure, "small", 11.5, CAPTION_LINE, note);
    snprintf(line, sizeof line, "%s. %s. libattn %s", task_name(figure->task, name),
             run->lab->reference, task_origin(figure->task, origin, sizeof origin));
    print_wrapped(figure, "small", 11.5, CAPTION_LINE, line);
}

/* ---- the whole ----------------------------------------------------------------------------------- */

typedef struct content {
    const task_t *task;
    const conclusion_t *conclusion;
    const char *command, *body;
    double *height; /* out, of the body */
} content_t;

static void print_body(const void *data, FILE *out) {
    const content_t *content = data;
    figure_t figure = {.task = content->task, .out = out, .at = 6};
    print_wrapped(&figure, "title", 15, TITLE_LINE, content->task->run.panel->title);
    if (content->task->run.panel->tiles) {
        figure.at = heatmap_print(content->task, figure.at + 4, out);
    } else {
        figure.frame = frame_make(content->task, figure.at + 14);
        frame_print(&figure.frame, content->task, out);
        figure.at = figure.frame.bottom + FRAME_BELOW;
        print_legend(&figure);
    }
    print_finding(&figure, &content->conclusion->finding);
    print_caption(&figure, content->conclusion->note);
    *content->height = figure.at + 14;
}

static void print_svg(const void *data, FILE *out) {
    const content_t *content = data;
    const double height = *content->height;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"figure\" viewBox=\"0 0 %d %.0f\" "
            "width=\"%d\" height=\"%.0f\" role=\"img\" aria-label=\"",
            FRAME_WIDTH, height, FRAME_WIDTH, height);
    xml_string(out, content->task->run.panel->title);
    fputs("\">\n<desc>", out);
    xml_string(out, content->command);
    fprintf(out,
            "</desc>\n<style>\n%s</style>\n<rect class=\"paper\" width=\"%d\" "
            "height=\"%.0f\"/>\n%s</svg>\n",
            figure_style, FRAME_WIDTH, height, content->body);
}

/* The height is known when all else is, so that goes into memory first. */
int figure_make(const task_t *task, const conclusion_t *conclusion, const char *command,
                text_t *svg) {
    double height;
    text_t body;
    content_t content = {
        .task = task, .conclusion = conclusion, .command = command, .height = &height};
    int status = text_make(&body, print_body, &content);
    if (status) return status;
    content.body = body.bytes;
    status = text_make(svg, print_svg, &content);
    free(body.bytes);
    return status;
}
