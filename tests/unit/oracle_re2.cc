/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle_re2.h"

#include <cstdio>
#include <new>

#include <re2/re2.h>

struct oracle_re2 {
    oracle_re2(re2::StringPiece pattern, const re2::RE2::Options &options) : re(pattern, options) {}
    re2::RE2 re;
};

oracle_re2 *oracle_re2_new(const char *pattern, size_t n, char why[200]) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_never_capture(false);
    options.set_max_mem(int64_t{256} << 20);
    auto *oracle = new (std::nothrow) oracle_re2(re2::StringPiece(pattern, n), options);
    if (oracle != nullptr && !oracle->re.ok()) {
        if (why != nullptr) {
            std::snprintf(why, 200, "%s", oracle->re.error().c_str());
        }
        delete oracle;
        oracle = nullptr;
    }
    return oracle;
}

int oracle_re2_search(const oracle_re2 *oracle, const char *text, size_t n) {
    return oracle->re.Match(re2::StringPiece(text, n), 0, n, re2::RE2::UNANCHORED, nullptr, 0) ? 1 : 0;
}

void oracle_re2_free(oracle_re2 *oracle) { delete oracle; }
