/* kirchhoff/microjobs_internal.h – the management process of a node: fetches microjobs and keeps
 * compute processes running. */
#pragma once

#include "cu/farm/farm.h"
#include "kirchhoff/microjobs.h"

/* What became of a microjob: the result of a batch. */
struct microjobs_word {
    int code; /* exit code, or minus the signal */
    double seconds;
};

/* Compute processes that this node keeps running at a time. */
int microjobs_seats(const struct microjobs *job);

/* Runs until the farm has no more and all is done here; batches are microjobs, one at a time, whose
 * number is the first int of the brief. After stop_request() the compute processes are ended, and
 * no new one is made. EK_UNAVAILABLE: no process can be made. */
enum ek_status microjobs_node(const struct microjobs *job, struct farm *farm);
