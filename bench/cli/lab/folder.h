/* cli/lab/folder.h: a folder for files of panels. */
#ifndef ATTN_CLI_LAB_FOLDER_H
#define ATTN_CLI_LAB_FOLDER_H

/** Make it where it is missing; an exit status. */
int folder_make(const char *folder);

#endif
