/* cli/lab/report.c: see report.h. Figures are there when their panels are complete (documents.c). */
#include "cli/lab/report.h"

#include "cli/cli.h"
#include "cli/files.h"
#include "cli/host.h"
#include "cli/lab/style.h"
#include "cli/lab/task.h"
#include "cli/lab/text.h"
#include "cli/output.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A panel of the folder; NULL when it has no figure of it, or nothing can be read. */
static char *read_figure(const char *folder, const lab_t *lab, const lab_panel_t *panel) {
    const task_t task = {.run = {.lab = lab, .panel = panel}, .folder = folder};
    char *path = task_path(&task, "svg"), *bytes = NULL;
    size_t size;
    if (path && access(path, F_OK) == 0 && file_read(path, &bytes, &size) == CLI_OK) {
        char *text = realloc(bytes, size + 1);
        if (!text) free(bytes);
        if (text) text[size] = 0;
        bytes = text;
    }
    free(path);
    return bytes;
}

static int has_figures(const char *folder, const lab_t *lab) {
    int count = 0;
    for (uint32_t i = 0; i < lab->panel_count; i++) {
        char *figure = read_figure(folder, lab, &lab->panels[i]);
        count += figure != NULL;
        free(figure);
    }
    return count;
}

/* ---- figures ------------------------------------------------------------------------------------- */

/* The command is the figure's <desc>. Its style is the page's already. */
static void print_figure(const char *name, const char *svg, FILE *out) {
    const char *from = strstr(svg, "<desc>"), *to = strstr(svg, "</desc>");
    const char *style = strstr(svg, "<style>"), *rest = strstr(svg, "</style>");
    fprintf(out, "<figure id=\"%s\">\n<div class=\"scroll\">", name);
    if (style && rest > style)
        fprintf(out, "%.*s%s", (int)(style - svg), svg, rest + sizeof "</style>" - 1);
    else
        fputs(svg, out);
    fputs("</div>\n<figcaption>", out);
    if (from && to > from) fprintf(out, "<code>%.*s</code>\n", (int)(to - from - 6), from + 6);
    fprintf(out,
            "<a href=\"%s.csv\">CSV</a> <a href=\"%s.json\">JSON</a> <a href=\"%s.svg\">SVG</a>"
            "</figcaption>\n</figure>\n",
            name, name, name);
}

static void print_lab(const char *folder, const lab_t *lab, FILE *out) {
    fprintf(out, "<section id=\"%s\">\n<h2>", lab->name);
    xml_string(out, lab->title);
    fputs("</h2>\n<p>", out);
    xml_string(out, lab->summary);
    fputs(" <span class=\"quiet\">", out);
    xml_string(out, lab->reference);
    fputs("</span></p>\n<div class=\"figures\">\n", out);
    for (uint32_t i = 0; i < lab->panel_count; i++) {
        char name[TASK_NAME];
        char *figure = read_figure(folder, lab, &lab->panels[i]);
        if (!figure) continue;
        snprintf(name, sizeof name, "%s-%s", lab->name, lab->panels[i].id);
        print_figure(name, figure, out);
        free(figure);
    }
    fputs("</div>\n</section>\n", out);
}

/* ---- the page ------------------------------------------------------------------------------------ */

static void print_contents(const char *folder, FILE *out) {
    fputs("<nav><ul>\n", out);
    for (uint32_t i = 0; i < lab_count(); i++) {
        const lab_t *lab = lab_at(i);
        if (!has_figures(folder, lab)) continue;
        fprintf(out, "<li><a href=\"#%s\">", lab->name);
        xml_string(out, lab->title);
        fputs("</a> <span class=\"panels\">", out);
        for (uint32_t p = 0; p < lab->panel_count; p++) {
            char *figure = read_figure(folder, lab, &lab->panels[p]);
            if (figure)
                fprintf(out, "<a href=\"#%s-%s\">%s</a> ", lab->name, lab->panels[p].id,
                        lab->panels[p].id);
            free(figure);
        }
        fputs("</span></li>\n", out);
    }
    fputs("</ul></nav>\n", out);
}

static void print_page(const char *folder, FILE *out) {
    fprintf(out,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<title>libattn: experiments</title>\n<style>\n%s%s</style>\n</head>\n<body>\n"
            "<h1>The papers&rsquo; experiments</h1>\n"
            "<p>Below each figure stands the command that makes it again; its numbers are in the "
            "CSV, and with everything about them in the JSON. "
            "<span class=\"quiet\">libattn %s (%s)</span></p>\n",
            report_style, figure_style, attn_version(), host_commit());
    print_contents(folder, out);
    for (uint32_t i = 0; i < lab_count(); i++)
        if (has_figures(folder, lab_at(i))) print_lab(folder, lab_at(i), out);
    fputs("</body>\n</html>\n", out);
}

int report_write(const char *folder) {
    text_t page;
    if (text_open(&page)) return CLI_USAGE;
    print_page(folder, page.out);
    if (text_close(&page)) return CLI_USAGE;
    const size_t size = strlen(folder) + sizeof "/report.html";
    char *path = malloc(size);
    int status = CLI_OK;
    if (path) {
        output_t output = {.count = 0};
        snprintf(path, size, "%s/report.html", folder);
        output_add(&output, path, NULL, 0, page.bytes, page.size);
        status = output_write(&output);
    } else
        status = cli_complain(CLI_USAGE, "no memory for a path");
    free(path);
    free(page.bytes);
    return status;
}
