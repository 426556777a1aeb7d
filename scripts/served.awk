# SPDX-License-Identifier: MIT
#
# awk -f served.awk -v ops="encoder gelu" MAP: prints which source file serves each op. MAP has lines of the linker's
# cross-reference table (--cref): a symbol, then the object that defines it.
# With -v base=lessons it says of a solution's file why the learner's does not serve: build/verdict has its check's output.
BEGIN { count = split(ops, names, " ") }
{
    for (i = 1; i <= count; i++) {
        # Defined functions are listed by mangled or by plain name: _Z4gelu… or gelu(…
        if (index($1, "_Z" length(names[i]) names[i]) == 1 || index($1, names[i] "(") == 1) { file[names[i]] = $NF }
    }
}
END {
    for (i = 1; i <= count; i++) {
        source = file[names[i]]
        sub(/^build\/((dry|gpu)\/)?ops\//, "", source)
        sub(/\.o$/, system("test -f " substr(source, 1, length(source) - 2) ".cu") == 0 ? ".cu" : ".cpp", source)
        printf "  %-14s  %s\n", names[i], source == "" ? "nobody" : source
        missing += source == ""
        if (base == "lessons" && source ~ /^solutions\//) {
            split(source, part, "/")
            number = substr(part[2], 1, 2)
            unwritten = system("grep -qs '" names[i] " .*not written yet' build/verdict/" part[2] "/" names[i] ".log") == 0
            printf "  %-14s  yours of lesson %s %s\n", "", number,
                unwritten ? "is not written yet" : "does not pass: make check-lesson" number
        }
    }
    exit missing > 0
}
