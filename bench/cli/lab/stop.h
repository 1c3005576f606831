/*
 * cli/lab/stop.h: ctrl-C and SIGTERM as a wish that is looked at between points. A second one ends the
 * program at once.
 */
#ifndef ATTN_CLI_LAB_STOP_H
#define ATTN_CLI_LAB_STOP_H

/** From now on. */
void stop_listen(void);

/** As if the user wanted it, too, in so many seconds. */
void stop_after(double seconds);

/** Whether to stop. Any thread. */
int stop_wanted(void);

/** When all is kept: end by the signal that came, so that a shell's loop ends, too. */
void stop_end(void);

#endif
