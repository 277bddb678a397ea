/*
 * The second stage of confinement. An engine that has everything it needs loads this shared object with
 * `process.dlopen`; its constructor puts a filter on all threads that allows no call with a path. Node then
 * reports that the file is not a module, which the engine expects. A process that cannot be sealed ends with code 125.
 */
#include "system.h"

__attribute__((constructor)) static void seal_on_load(void) { seal(); }
