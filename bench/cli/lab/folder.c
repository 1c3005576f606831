/* cli/lab/folder.c: see folder.h. */
#include "cli/lab/folder.h"

#include "cli/cli.h"
#include "cli/files.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

int folder_make(const char *folder) {
    struct stat info;
    if (strcmp(folder, "-") == 0)
        return cli_complain(CLI_USAGE, "--output: a folder cannot go to standard output (one of "
                                       "that name is ./-)");
    if (stat(folder, &info) == 0) {
        if (S_ISDIR(info.st_mode)) return CLI_OK;
        return cli_complain(CLI_USAGE, "%s: cannot be written: it is no folder", folder);
    }
    return mkdir(folder, 0777) == 0 ? CLI_OK : file_not_written(folder, errno);
}
