/* job.h: runs beside JavaScript's thread. */
#ifndef ATTNJS_JOB_H
#define ATTNJS_JOB_H

#include "call.h"
#include "stop.h"

/** A promise of the degenerate rows of a run, or -1; what the call's arguments say is kept until then. */
napi_value addon_job_start(const addon_call_t *call, const addon_stop_t *stop);

#endif
