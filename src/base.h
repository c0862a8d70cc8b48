/* src/base.h – what most files use: the usual headers of C, statuses, and memory with an owner. Not
 * for installed headers, which name what they need, nor for texts of kernels. */
#pragma once

#include "src/arena.h"
#include "src/owned.h"
#include "src/status.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
