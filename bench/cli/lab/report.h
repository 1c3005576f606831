/*
 * cli/lab/report.h: FOLDER/report.html: every figure that the folder has, in one page that needs no
 * other file.
 */
#ifndef ATTN_CLI_LAB_REPORT_H
#define ATTN_CLI_LAB_REPORT_H

/** An exit status. */
int report_write(const char *folder);

#endif
