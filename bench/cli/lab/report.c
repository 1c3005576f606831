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

/* The figures that the folder has, lab by lab and panel by panel; NULL where it has none. */
typedef struct report {
    const char *folder;
    char **figures;
} report_t;

static uint32_t count_panels(uint32_t labs) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < labs; i++) count += lab_at(i)->panel_count;
    return count;
}

static char **figures_of(const report_t *report, uint32_t lab) {
    return report->figures + count_panels(lab);
}

static int read_text(const char *path, char **text) {
    char *bytes = NULL;
    size_t size;
    const int status = file_read(path, &bytes, &size);
    if (status) return status;
    *text = realloc(bytes, size + 1);
    if (!*text) {
        free(bytes);
        return cli_complain(CLI_USAGE, "%s: no memory", path);
    }
    (*text)[size] = 0;
    return CLI_OK;
}

static int read_figure(const char *folder, const lab_t *lab, const lab_panel_t *panel,
                       char **figure) {
    const task_t task = {.run = {.lab = lab, .panel = panel}, .folder = folder};
    char *path = task_path(&task, "svg");
    if (!path) return cli_complain(CLI_USAGE, "no memory for a path");
    const int status = access(path, F_OK) == 0 ? read_text(path, figure) : CLI_OK;
    free(path);
    return status;
}

static int read_figures(report_t *report) {
    const uint32_t count = count_panels(lab_count());
    report->figures = calloc(count, sizeof *report->figures);
    if (!report->figures) return cli_complain(CLI_USAGE, "no memory for %u figures", count);
    int status = CLI_OK;
    for (uint32_t i = 0; i < lab_count(); i++)
        for (uint32_t p = 0; p < lab_at(i)->panel_count && !status; p++)
            status = read_figure(report->folder, lab_at(i), &lab_at(i)->panels[p],
                                 &figures_of(report, i)[p]);
    return status;
}

static int has_figures(const report_t *report, uint32_t lab) {
    for (uint32_t p = 0; p < lab_at(lab)->panel_count; p++)
        if (figures_of(report, lab)[p]) return 1;
    return 0;
}

/* ---- figures ------------------------------------------------------------------------------------- */

/* A text of the figure's, in which entities stay and nothing else is markup. */
static void print_text_of(const char *from, const char *to, FILE *out) {
    for (; from < to; from++) {
        if (*from == '<')
            fputs("&lt;", out);
        else if (*from == '>')
            fputs("&gt;", out);
        else
            fputc(*from, out);
    }
}

/*
 * Whatever a file of that name holds: an image runs no script and loads nothing. The command is its
 * <desc>.
 */
static void print_figure(const char *name, const char *title, const char *svg, FILE *out) {
    const char *from = strstr(svg, "<desc>"), *to = from ? strstr(from, "</desc>") : NULL;
    fprintf(out, "<figure id=\"%s\">\n<div class=\"scroll\"><img alt=\"", name);
    xml_string(out, title);
    fputs("\" src=\"data:image/svg+xml;base64,", out);
    base64_bytes(out, svg, strlen(svg));
    fputs("\"></div>\n<figcaption>", out);
    if (to) {
        fputs("<code>", out);
        print_text_of(from + sizeof "<desc>" - 1, to, out);
        fputs("</code>\n", out);
    }
    fprintf(out,
            "<a href=\"%s.csv\">CSV</a> <a href=\"%s.json\">JSON</a> <a href=\"%s.svg\">SVG</a>"
            "</figcaption>\n</figure>\n",
            name, name, name);
}

static void print_lab(const report_t *report, uint32_t number, FILE *out) {
    const lab_t *lab = lab_at(number);
    fprintf(out, "<section id=\"%s\">\n<h2>", lab->name);
    xml_string(out, lab->title);
    fputs("</h2>\n<p>", out);
    xml_string(out, lab->summary);
    fputs(" <span class=\"quiet\">", out);
    xml_string(out, lab->reference);
    fputs("</span></p>\n<div class=\"figures\">\n", out);
    for (uint32_t i = 0; i < lab->panel_count; i++) {
        char name[TASK_NAME];
        const char *figure = figures_of(report, number)[i];
        if (!figure) continue;
        snprintf(name, sizeof name, "%s-%s", lab->name, lab->panels[i].id);
        print_figure(name, lab->panels[i].title, figure, out);
    }
    fputs("</div>\n</section>\n", out);
}

/* ---- the page ------------------------------------------------------------------------------------ */

static void print_contents(const report_t *report, FILE *out) {
    fputs("<nav><ul>\n", out);
    for (uint32_t i = 0; i < lab_count(); i++) {
        const lab_t *lab = lab_at(i);
        if (!has_figures(report, i)) continue;
        fprintf(out, "<li><a href=\"#%s\">", lab->name);
        xml_string(out, lab->title);
        fputs("</a> <span class=\"panels\">", out);
        for (uint32_t p = 0; p < lab->panel_count; p++) {
            if (figures_of(report, i)[p])
                fprintf(out, "<a href=\"#%s-%s\">%s</a> ", lab->name, lab->panels[p].id,
                        lab->panels[p].id);
        }
        fputs("</span></li>\n", out);
    }
    fputs("</ul></nav>\n", out);
}

static void print_page(const void *data, FILE *out) {
    const report_t *report = data;
    fprintf(out,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
            "img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
            "<title>libattn: experiments</title>\n<style>\n%s</style>\n</head>\n<body>\n"
            "<h1>The papers&rsquo; experiments</h1>\n"
            "<p>Below each figure stands the command that makes it again; its numbers are in the "
            "CSV, and with everything about them in the JSON. "
            "<span class=\"quiet\">libattn %s (%s)</span></p>\n",
            report_style, attn_version(), host_commit());
    print_contents(report, out);
    for (uint32_t i = 0; i < lab_count(); i++)
        if (has_figures(report, i)) print_lab(report, i, out);
    fputs("</body>\n</html>\n", out);
}

static int write_page(const char *folder, const text_t *page) {
    const size_t size = strlen(folder) + sizeof "/report.html";
    char *path = malloc(size);
    output_t output = {.count = 0};
    if (!path) return cli_complain(CLI_USAGE, "no memory for a path");
    snprintf(path, size, "%s/report.html", folder);
    output_add(&output, path, NULL, 0, page->bytes, page->size);
    const int status = output_write(&output);
    free(path);
    return status;
}

int report_write(const char *folder) {
    report_t report = {.folder = folder};
    text_t page = {.bytes = NULL};
    int status = read_figures(&report);
    if (!status) status = text_make(&page, print_page, &report);
    if (!status) status = write_page(folder, &page);
    free(page.bytes);
    for (uint32_t i = 0; report.figures && i < count_panels(lab_count()); i++)
        free(report.figures[i]);
    free(report.figures);
    return status;
}
