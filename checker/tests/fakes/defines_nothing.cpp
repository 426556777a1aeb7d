// SPDX-License-Identifier: MIT
//
// Exports nothing that the checker knows.
extern "C" int something_else() {
    return 1;
}
