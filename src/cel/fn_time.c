/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a timestamp, in UTC or in a zone that is named, and of a duration (cel-spec, langdef.md). Of a duration the
 * hours, minutes and seconds are the whole of it and the milliseconds are what is left of a second. */
#include "cel/fn.h"

typedef enum time_part {
    TIME_YEAR,
    TIME_MONTH,
    TIME_DAY_OF_YEAR,
    TIME_DAY_OF_MONTH,
    TIME_DATE,
    TIME_DAY_OF_WEEK,
    TIME_HOURS,
    TIME_MINUTES,
    TIME_SECONDS,
    TIME_MILLISECONDS
} time_part;

enum { TIME_ZONE_STEPS = 8 }; /* a look-up of the host's */

/* `UTC`, a fixed offset, or a name that the host knows. */
static bool time_offset(const il_cel_run *r, il_str zone, int64_t seconds, int32_t *east) {
    if (il_offset_parse(zone, east)) {
        return true;
    }
    const il_cel_env *env = r->program != NULL ? r->program->env : NULL;
    return env != NULL && env->zone != NULL && env->zone(env->zone_ctx, zone, seconds, east);
}

static il_cel_value time_of_timestamp(il_cel_run *r, const il_cel_value *args, uint32_t nargs, time_part part) {
    const il_time t = {args[0].u.i, (int32_t)args[0].n};
    int32_t east = 0;
    if (nargs > 1) {
        if (args[1].kind != IL_CEL_STRING) {
            return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
        }
        if (!il_cel_charge(r, TIME_ZONE_STEPS + args[1].n / 64)) {
            return il_cel_of_fault(IL_CEL_BUDGET);
        }
        if (!time_offset(r, il_cel_str(args[1]), t.seconds, &east)) {
            return il_cel_of_fault(IL_CEL_BAD_VALUE);
        }
    }
    il_civil c;
    if (!il_time_civil(t, east, &c)) {
        return il_cel_of_fault(IL_CEL_BAD_VALUE);
    }
    switch (part) {
    case TIME_YEAR:
        return il_cel_of_int(c.year);
    case TIME_MONTH:
        return il_cel_of_int(c.month - 1);
    case TIME_DAY_OF_YEAR:
        return il_cel_of_int(c.yearday);
    case TIME_DAY_OF_MONTH:
        return il_cel_of_int(c.day - 1);
    case TIME_DATE:
        return il_cel_of_int(c.day);
    case TIME_DAY_OF_WEEK:
        return il_cel_of_int(c.weekday);
    case TIME_HOURS:
        return il_cel_of_int(c.hour);
    case TIME_MINUTES:
        return il_cel_of_int(c.minute);
    case TIME_SECONDS:
        return il_cel_of_int(c.second);
    case TIME_MILLISECONDS:
        return il_cel_of_int(t.nanos / 1000000);
    }
    return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
}

static il_cel_value time_of_duration(int64_t nanos, time_part part) {
    const int64_t seconds = nanos / IL_NANOS_PER_SECOND;
    switch (part) {
    case TIME_HOURS:
        return il_cel_of_int(seconds / 3600);
    case TIME_MINUTES:
        return il_cel_of_int(seconds / 60);
    case TIME_SECONDS:
        return il_cel_of_int(seconds);
    case TIME_MILLISECONDS:
        return il_cel_of_int(nanos % IL_NANOS_PER_SECOND / 1000000);
    case TIME_YEAR:
    case TIME_MONTH:
    case TIME_DAY_OF_YEAR:
    case TIME_DAY_OF_MONTH:
    case TIME_DATE:
    case TIME_DAY_OF_WEEK:
        break;
    }
    return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
}

static il_cel_value time_get(il_cel_run *r, const il_cel_value *args, uint32_t nargs, time_part part) {
    if (args[0].kind == IL_CEL_TIMESTAMP) {
        return time_of_timestamp(r, args, nargs, part);
    }
    if (args[0].kind == IL_CEL_DURATION && nargs == 1) {
        return time_of_duration(args[0].u.i, part);
    }
    return il_cel_of_fault(IL_CEL_NO_OVERLOAD);
}

il_cel_value il_cel_fn_get_full_year(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    return time_get(r, args, nargs, TIME_YEAR);
}
il_cel_value il_cel_fn_get_month(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    return time_get(r, args, nargs, TIME_MONTH);
}
il_cel_value il_cel_fn_get_day_of_year(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    return time_get(r, args, nargs, TIME_DAY_OF_YEAR);
}
il_cel_value il_cel_fn_get_day_of_month(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    return time_get(r, args, nargs, TIME_DAY_OF_MONTH);
}
il_cel_value il_cel_fn_get_date(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    return time_get(r, args, nargs, TIME_DATE);
}
il_cel_value il_cel_fn_get_day_of_week(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    return time_get(r, args, nargs, TIME_DAY_OF_WEEK);
}
il_cel_value il_cel_fn_get_hours(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    return time_get(r, args, nargs, TIME_HOURS);
}
il_cel_value il_cel_fn_get_minutes(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    return time_get(r, args, nargs, TIME_MINUTES);
}
il_cel_value il_cel_fn_get_seconds(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    return time_get(r, args, nargs, TIME_SECONDS);
}
il_cel_value il_cel_fn_get_milliseconds(il_cel_run *r, const il_cel_value *args, uint32_t nargs) {
    return time_get(r, args, nargs, TIME_MILLISECONDS);
}

il_cel_bound il_cel_bound_time(const uint64_t *sizes, uint32_t n) {
    return (il_cel_bound){n > 1 ? 1 + TIME_ZONE_STEPS + sizes[1] / 64 : 1, 1};
}
