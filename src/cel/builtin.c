/* SPDX-License-Identifier: Apache-2.0 */
/* The table of functions, sorted by name; of one name, called alone comes before called on a receiver. */
#include "cel/builtin.h"

#include "cel/fn.h"

/* Short names for what the signatures are made of. A stands for any type. */
#define DYN &il_cel_type_dyn
#define BOOL &il_cel_type_bool
#define INT &il_cel_type_int
#define UINT &il_cel_type_uint
#define DOUBLE &il_cel_type_double
#define STRING &il_cel_type_string
#define BYTES &il_cel_type_bytes
#define TIMESTAMP &il_cel_type_timestamp
#define DURATION &il_cel_type_duration
#define IP &il_cel_type_ip
#define CIDR &il_cel_type_cidr
#define ANY_LIST &il_cel_type_list
#define ANY_MAP &il_cel_type_map
#define A &builtin_a
#define TYPE_OF_A &builtin_type_a
#define ANY_TYPE &builtin_type
#define LIST_OF_A &builtin_list_a
#define LIST_OF_INT &builtin_list_int
#define LIST_OF_UINT &builtin_list_uint
#define LIST_OF_DOUBLE &builtin_list_double
#define LIST_OF_STRING &builtin_list_string
#define OPTIONAL_OF_A &builtin_optional_a
#define LIST_OF_OPTIONAL &builtin_list_optional

static const il_cel_type builtin_a = {.kind = IL_CEL_PARAM, .name = {"A", 1}}, builtin_type = {.kind = IL_CEL_TYPE},
                         builtin_type_a = {.kind = IL_CEL_TYPE, .element = A},
                         builtin_list_a = {.kind = IL_CEL_LIST, .element = A},
                         builtin_list_int = {.kind = IL_CEL_LIST, .element = INT},
                         builtin_list_uint = {.kind = IL_CEL_LIST, .element = UINT},
                         builtin_list_double = {.kind = IL_CEL_LIST, .element = DOUBLE},
                         builtin_list_string = {.kind = IL_CEL_LIST, .element = STRING},
                         builtin_optional_a = {.kind = IL_CEL_OPTIONAL, .element = A},
                         builtin_list_optional = {.kind = IL_CEL_LIST, .element = OPTIONAL_OF_A};

/* conversions */
static const il_cel_overload builtin_bool[] = {{{BOOL}, BOOL}, {{STRING}, BOOL}};
static const il_cel_overload builtin_bytes[] = {{{BYTES}, BYTES}, {{STRING}, BYTES}};
static const il_cel_overload builtin_double[] = {{{DOUBLE}, DOUBLE}, {{INT}, DOUBLE}, {{UINT}, DOUBLE}, {{STRING}, DOUBLE}};
static const il_cel_overload builtin_duration[] = {{{DURATION}, DURATION}, {{STRING}, DURATION}};
static const il_cel_overload builtin_dyn[] = {{{A}, DYN}};
static const il_cel_overload builtin_int[] = {{{INT}, INT}, {{UINT}, INT}, {{DOUBLE}, INT}, {{STRING}, INT}, {{TIMESTAMP}, INT}};
static const il_cel_overload builtin_string[] = {
    {{STRING}, STRING},    {{BOOL}, STRING},     {{INT}, STRING}, {{UINT}, STRING}, {{DOUBLE}, STRING},  {{BYTES}, STRING},
    {{TIMESTAMP}, STRING}, {{DURATION}, STRING}, {{IP}, STRING},  {{CIDR}, STRING}, {{ANY_TYPE}, STRING}};
static const il_cel_overload builtin_timestamp[] = {{{TIMESTAMP}, TIMESTAMP}, {{STRING}, TIMESTAMP}, {{INT}, TIMESTAMP}};
static const il_cel_overload builtin_type_of[] = {{{A}, TYPE_OF_A}};
static const il_cel_overload builtin_uint[] = {{{UINT}, UINT}, {{INT}, UINT}, {{DOUBLE}, UINT}, {{STRING}, UINT}};

/* texts and lists */
static const il_cel_overload builtin_size[] = {{{STRING}, INT}, {{BYTES}, INT}, {{ANY_LIST}, INT}, {{ANY_MAP}, INT}};
static const il_cel_overload builtin_text_bool[] = {{{STRING, STRING}, BOOL}};
static const il_cel_overload builtin_contains[] = {{{STRING, STRING}, BOOL}, {{LIST_OF_A, A}, BOOL}};
static const il_cel_overload builtin_char_at[] = {{{STRING, INT}, STRING}};
static const il_cel_overload builtin_format[] = {{{STRING, ANY_LIST}, STRING}};
static const il_cel_overload builtin_index[] = {{{STRING, STRING}, INT}, {{STRING, STRING, INT}, INT}};
static const il_cel_overload builtin_join[] = {{{LIST_OF_STRING}, STRING}, {{LIST_OF_STRING, STRING}, STRING}};
static const il_cel_overload builtin_text[] = {{{STRING}, STRING}};
static const il_cel_overload builtin_replace[] = {{{STRING, STRING, STRING}, STRING}, {{STRING, STRING, STRING, INT}, STRING}};
static const il_cel_overload builtin_split[] = {{{STRING, STRING}, LIST_OF_STRING}, {{STRING, STRING, INT}, LIST_OF_STRING}};
static const il_cel_overload builtin_substring[] = {{{STRING, INT}, STRING}, {{STRING, INT, INT}, STRING}};

/* times */
static const il_cel_overload builtin_date[] = {{{TIMESTAMP}, INT}, {{TIMESTAMP, STRING}, INT}};
static const il_cel_overload builtin_time[] = {{{TIMESTAMP}, INT}, {{TIMESTAMP, STRING}, INT}, {{DURATION}, INT}};

/* optionals */
static const il_cel_overload builtin_optional[] = {{{A}, OPTIONAL_OF_A}};
static const il_cel_overload builtin_none[] = {{{NULL}, OPTIONAL_OF_A}};
static const il_cel_overload builtin_has_value[] = {{{OPTIONAL_OF_A}, BOOL}};
static const il_cel_overload builtin_value[] = {{{OPTIONAL_OF_A}, A}};
static const il_cel_overload builtin_or[] = {{{OPTIONAL_OF_A, OPTIONAL_OF_A}, OPTIONAL_OF_A}};
static const il_cel_overload builtin_or_value[] = {{{OPTIONAL_OF_A, A}, A}};
static const il_cel_overload builtin_unwrap[] = {{{LIST_OF_OPTIONAL}, LIST_OF_A}};

/* addresses */
static const il_cel_overload builtin_ip[] = {{{STRING}, IP}};
static const il_cel_overload builtin_cidr[] = {{{STRING}, CIDR}};
static const il_cel_overload builtin_is_address[] = {{{STRING}, BOOL}};
static const il_cel_overload builtin_ip_bool[] = {{{IP}, BOOL}};
static const il_cel_overload builtin_ip_int[] = {{{IP}, INT}};
static const il_cel_overload builtin_contains_ip[] = {{{CIDR, IP}, BOOL}, {{CIDR, STRING}, BOOL}};
static const il_cel_overload builtin_contains_cidr[] = {{{CIDR, CIDR}, BOOL}, {{CIDR, STRING}, BOOL}};
static const il_cel_overload builtin_cidr_ip[] = {{{CIDR}, IP}};
static const il_cel_overload builtin_masked[] = {{{CIDR}, CIDR}};
static const il_cel_overload builtin_cidr_int[] = {{{CIDR}, INT}};

/* numbers; what `greatest` and `least` of numbers of several kinds are is known at run time only */
static const il_cel_overload builtin_extreme[] = {{{INT}, INT},         {{UINT}, UINT},         {{DOUBLE}, DOUBLE},
                                                  {{LIST_OF_INT}, INT}, {{LIST_OF_UINT}, UINT}, {{LIST_OF_DOUBLE}, DOUBLE},
                                                  {{DYN, DYN}, DYN}};
static const il_cel_overload builtin_whole[] = {{{DOUBLE}, DOUBLE}};
static const il_cel_overload builtin_double_bool[] = {{{DOUBLE}, BOOL}};
static const il_cel_overload builtin_number[] = {{{INT}, INT}, {{UINT}, UINT}, {{DOUBLE}, DOUBLE}};
static const il_cel_overload builtin_bits[] = {{{INT, INT}, INT}, {{UINT, UINT}, UINT}};
static const il_cel_overload builtin_bit_not[] = {{{INT}, INT}, {{UINT}, UINT}};
static const il_cel_overload builtin_shift[] = {{{INT, INT}, INT}, {{UINT, INT}, UINT}};

/* base64 */
static const il_cel_overload builtin_encode[] = {{{BYTES}, STRING}};
static const il_cel_overload builtin_decode[] = {{{STRING}, BYTES}};

#define ROW(text, on_receiver, many, overloads, function, bound)                                                             \
    {                                                                                                                        \
        {(text), sizeof(text) - 1}, (on_receiver), (many), (uint8_t)(sizeof(overloads) / sizeof(overloads)[0]), (overloads), \
            (function), (bound)                                                                                              \
    }
#define ALONE(text, overloads, function, bound) ROW(text, false, false, overloads, function, bound)
#define CALLED_ON(text, overloads, function, bound) ROW(text, true, false, overloads, function, bound)
#define ANY_NUMBER(text, overloads, function, bound) ROW(text, false, true, overloads, function, bound)

static const il_cel_builtin builtin_rows[] = {
    ALONE("base64.decode", builtin_decode, il_cel_fn_base64_decode, il_cel_bound_decode),
    ALONE("base64.encode", builtin_encode, il_cel_fn_base64_encode, il_cel_bound_encode),
    ALONE("bool", builtin_bool, il_cel_fn_bool, NULL),
    ALONE("bytes", builtin_bytes, il_cel_fn_bytes, il_cel_bound_same),
    CALLED_ON("charAt", builtin_char_at, il_cel_fn_char_at, il_cel_bound_char),
    ALONE("cidr", builtin_cidr, il_cel_fn_cidr, il_cel_bound_address),
    CALLED_ON("contains", builtin_contains, il_cel_fn_contains, il_cel_bound_scan),
    CALLED_ON("containsCIDR", builtin_contains_cidr, il_cel_fn_contains_cidr, il_cel_bound_address),
    CALLED_ON("containsIP", builtin_contains_ip, il_cel_fn_contains_ip, il_cel_bound_address),
    ALONE("double", builtin_double, il_cel_fn_double, il_cel_bound_parse),
    ALONE("duration", builtin_duration, il_cel_fn_duration, il_cel_bound_parse),
    ALONE("dyn", builtin_dyn, il_cel_fn_dyn, il_cel_bound_same),
    CALLED_ON("endsWith", builtin_text_bool, il_cel_fn_ends_with, il_cel_bound_affix),
    CALLED_ON("family", builtin_ip_int, il_cel_fn_family, NULL),
    CALLED_ON("format", builtin_format, il_cel_fn_format, il_cel_bound_format),
    CALLED_ON("getDate", builtin_date, il_cel_fn_get_date, il_cel_bound_time),
    CALLED_ON("getDayOfMonth", builtin_date, il_cel_fn_get_day_of_month, il_cel_bound_time),
    CALLED_ON("getDayOfWeek", builtin_date, il_cel_fn_get_day_of_week, il_cel_bound_time),
    CALLED_ON("getDayOfYear", builtin_date, il_cel_fn_get_day_of_year, il_cel_bound_time),
    CALLED_ON("getFullYear", builtin_date, il_cel_fn_get_full_year, il_cel_bound_time),
    CALLED_ON("getHours", builtin_time, il_cel_fn_get_hours, il_cel_bound_time),
    CALLED_ON("getMilliseconds", builtin_time, il_cel_fn_get_milliseconds, il_cel_bound_time),
    CALLED_ON("getMinutes", builtin_time, il_cel_fn_get_minutes, il_cel_bound_time),
    CALLED_ON("getMonth", builtin_date, il_cel_fn_get_month, il_cel_bound_time),
    CALLED_ON("getSeconds", builtin_time, il_cel_fn_get_seconds, il_cel_bound_time),
    CALLED_ON("hasValue", builtin_has_value, il_cel_fn_has_value, NULL),
    CALLED_ON("indexOf", builtin_index, il_cel_fn_index_of, il_cel_bound_scan),
    ALONE("int", builtin_int, il_cel_fn_int, il_cel_bound_parse),
    ALONE("ip", builtin_ip, il_cel_fn_ip, il_cel_bound_address),
    CALLED_ON("ip", builtin_cidr_ip, il_cel_fn_cidr_ip, il_cel_bound_address),
    ALONE("ip.isCanonical", builtin_is_address, il_cel_fn_is_canonical, il_cel_bound_address),
    ALONE("isCIDR", builtin_is_address, il_cel_fn_is_cidr, il_cel_bound_address),
    CALLED_ON("isGlobalUnicast", builtin_ip_bool, il_cel_fn_is_global_unicast, NULL),
    ALONE("isIP", builtin_is_address, il_cel_fn_is_ip, il_cel_bound_address),
    CALLED_ON("isLinkLocalMulticast", builtin_ip_bool, il_cel_fn_is_link_local_multicast, NULL),
    CALLED_ON("isLinkLocalUnicast", builtin_ip_bool, il_cel_fn_is_link_local_unicast, NULL),
    CALLED_ON("isLoopback", builtin_ip_bool, il_cel_fn_is_loopback, NULL),
    CALLED_ON("isUnspecified", builtin_ip_bool, il_cel_fn_is_unspecified, NULL),
    CALLED_ON("join", builtin_join, il_cel_fn_join, il_cel_bound_join),
    CALLED_ON("lastIndexOf", builtin_index, il_cel_fn_last_index_of, il_cel_bound_scan),
    CALLED_ON("lowerAscii", builtin_text, il_cel_fn_lower_ascii, il_cel_bound_copy),
    CALLED_ON("masked", builtin_masked, il_cel_fn_masked, il_cel_bound_address),
    ALONE("matches", builtin_text_bool, il_cel_fn_matches, il_cel_bound_matches),
    CALLED_ON("matches", builtin_text_bool, il_cel_fn_matches, il_cel_bound_matches),
    ALONE("math.abs", builtin_number, il_cel_fn_abs, NULL),
    ALONE("math.bitAnd", builtin_bits, il_cel_fn_bit_and, NULL),
    ALONE("math.bitNot", builtin_bit_not, il_cel_fn_bit_not, NULL),
    ALONE("math.bitOr", builtin_bits, il_cel_fn_bit_or, NULL),
    ALONE("math.bitShiftLeft", builtin_shift, il_cel_fn_bit_shift_left, NULL),
    ALONE("math.bitShiftRight", builtin_shift, il_cel_fn_bit_shift_right, NULL),
    ALONE("math.bitXor", builtin_bits, il_cel_fn_bit_xor, NULL),
    ALONE("math.ceil", builtin_whole, il_cel_fn_ceil, NULL),
    ALONE("math.floor", builtin_whole, il_cel_fn_floor, NULL),
    ANY_NUMBER("math.greatest", builtin_extreme, il_cel_fn_greatest, il_cel_bound_most),
    ALONE("math.isFinite", builtin_double_bool, il_cel_fn_is_finite, NULL),
    ALONE("math.isInf", builtin_double_bool, il_cel_fn_is_inf, NULL),
    ALONE("math.isNaN", builtin_double_bool, il_cel_fn_is_nan, NULL),
    ANY_NUMBER("math.least", builtin_extreme, il_cel_fn_least, il_cel_bound_most),
    ALONE("math.round", builtin_whole, il_cel_fn_round, NULL),
    ALONE("math.sign", builtin_number, il_cel_fn_sign, NULL),
    ALONE("math.trunc", builtin_whole, il_cel_fn_trunc, NULL),
    ALONE("optional.none", builtin_none, il_cel_fn_optional_none, NULL),
    ALONE("optional.of", builtin_optional, il_cel_fn_optional_of, il_cel_bound_optional),
    ALONE("optional.ofNonZeroValue", builtin_optional, il_cel_fn_optional_of_non_zero, il_cel_bound_optional),
    ALONE("optional.unwrap", builtin_unwrap, il_cel_fn_unwrap, il_cel_bound_unwrap),
    CALLED_ON("or", builtin_or, il_cel_fn_or, il_cel_bound_optional),
    CALLED_ON("orValue", builtin_or_value, il_cel_fn_or_value, il_cel_bound_optional),
    CALLED_ON("prefixLength", builtin_cidr_int, il_cel_fn_prefix_length, NULL),
    CALLED_ON("replace", builtin_replace, il_cel_fn_replace, il_cel_bound_replace),
    CALLED_ON("reverse", builtin_text, il_cel_fn_reverse, il_cel_bound_copy),
    ALONE("size", builtin_size, il_cel_fn_size, il_cel_bound_size),
    CALLED_ON("size", builtin_size, il_cel_fn_size, il_cel_bound_size),
    CALLED_ON("split", builtin_split, il_cel_fn_split, il_cel_bound_split),
    CALLED_ON("startsWith", builtin_text_bool, il_cel_fn_starts_with, il_cel_bound_affix),
    ALONE("string", builtin_string, il_cel_fn_string, il_cel_bound_string),
    ALONE("strings.quote", builtin_text, il_cel_fn_quote, il_cel_bound_quote),
    CALLED_ON("substring", builtin_substring, il_cel_fn_substring, il_cel_bound_part),
    ALONE("timestamp", builtin_timestamp, il_cel_fn_timestamp, il_cel_bound_parse),
    CALLED_ON("trim", builtin_text, il_cel_fn_trim, il_cel_bound_part),
    ALONE("type", builtin_type_of, il_cel_fn_type, NULL),
    ALONE("uint", builtin_uint, il_cel_fn_uint, il_cel_bound_parse),
    CALLED_ON("unwrapOpt", builtin_unwrap, il_cel_fn_unwrap, il_cel_bound_unwrap),
    CALLED_ON("upperAscii", builtin_text, il_cel_fn_upper_ascii, il_cel_bound_copy),
    CALLED_ON("value", builtin_value, il_cel_fn_value, il_cel_bound_optional),
};

const il_cel_builtin *il_cel_builtins(size_t *n) {
    *n = sizeof builtin_rows / sizeof *builtin_rows;
    return builtin_rows;
}

const il_cel_builtin *il_cel_builtin_find(il_str name, bool receiver) {
    size_t low = 0, high = sizeof builtin_rows / sizeof *builtin_rows;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const il_cel_builtin *row = &builtin_rows[middle];
        int c = il_str_cmp(row->name, name);
        c = c != 0 ? c : (int)row->receiver - (int)receiver;
        if (c == 0) {
            return row;
        }
        if (c < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}
