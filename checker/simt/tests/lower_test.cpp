// SPDX-License-Identifier: MIT
#include "checker/simt/lower/lower.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace {

std::string lowered(const std::string& text) {
    return simt::lower(simt::Source(text));
}

std::string without_spaces(std::string text) {
    text.erase(std::remove_if(text.begin(), text.end(), [](unsigned char c) { return c == ' '; }), text.end());
    return text;
}

TEST(Lower, ALaunchBecomesItsConfigurationAndACall) {
    EXPECT_EQ(without_spaces(lowered("k<<<g, b>>>(x);")), "(::simt::configure(g,b),k(x),::simt::launched());");
}

TEST(Lower, ALaunchKeepsItsLines) {
    const std::string text = "ns::k<1,\n  T>\n  <<<g,\n b>>>(\nx);\nnext();\n";
    const std::string result = lowered(text);
    EXPECT_EQ(std::count(result.begin(), result.end(), '\n'), std::count(text.begin(), text.end(), '\n'));
    EXPECT_NE(result.find("next()"), std::string::npos);
}

TEST(Lower, TemplateArgumentsMayHoldShiftsBracketsAndNestedTemplates) {
    EXPECT_EQ(without_spaces(lowered("k<(8 >> 1), A<B<int>>, f(1)><<<g, b>>>(x);")),
              "(::simt::configure(g,b),k<(8>>1),A<B<int>>,f(1)>(x),::simt::launched());");
}

TEST(Lower, AQualifiedOrParenthesisedKernelMovesWhole) {
    EXPECT_EQ(without_spaces(lowered("return ::ns::k<<<g, b>>>(x);")),
              "return(::simt::configure(g,b),::ns::k(x),::simt::launched());");
    EXPECT_EQ(without_spaces(lowered("(fast ? a : b)<<<g, b>>>(x);")),
              "(::simt::configure(g,b),(fast?a:b)(x),::simt::launched());");
    EXPECT_EQ(without_spaces(lowered("table[i].kernel<<<g, b>>>(x);")),
              "(::simt::configure(g,b),table[i].kernel(x),::simt::launched());");
}

TEST(Lower, CommentsStringsAndRawStringsStay) {
    for (const char* text : {"// k<<<1, 2>>>(x)\n", "/* k<<<1, 2>>>(x) */", "auto s = \"k<<<1, 2>>>(x)\";",
                             "auto s = R\"q(k<<<1, 2>>>(\")q\";", "auto n = 1'000'000; auto c = '\"';"}) {
        EXPECT_EQ(lowered(text), text);
    }
}

TEST(Lower, ALaunchInAMacrosBodyOrArgumentIsLowered) {
    EXPECT_EQ(without_spaces(lowered("#define RUN(k, ...) k<<<1, 2>>>(__VA_ARGS__)\n")),
              "#defineRUN(k,...)(::simt::configure(1,2),k(__VA_ARGS__),::simt::launched())\n");
    EXPECT_EQ(without_spaces(lowered("CHECK((k<1, 2><<<g, b>>>(x)));")),
              "CHECK(((::simt::configure(g,b),k<1,2>(x),::simt::launched())));");
}

TEST(Lower, StreamOperatorsAreNoLaunches) {
    const char* text = "std::cout << a << b; X operator<<(A); auto x = &operator<< <int>;";
    EXPECT_EQ(lowered(text), text);
}

TEST(Lower, AKernelsBodyBecomesAFunctionOfItsParameters) {
    EXPECT_EQ(without_spaces(lowered("template <class T, class... U>\n__global__ void __launch_bounds__(128, 2) k(T* "
                                     "out, const A<T, 3> a, void (*f)(int), "
                                     "int n = 3, U... rest) { body(); }")),
              "template<classT,class...U>\n__global__void__launch_bounds__(128,2)k(T*out,constA<T,3>a,void(*f)(int),"
              "intn=3,U...rest){structsimt_thread{SIMT_KERNEL_BODYsimt_body("
              "decltype(out)out__attribute__((unused)),decltype(a)a__attribute__((unused)),"
              "decltype(f)f__attribute__((unused)),decltype(n)n__attribute__((unused)),"
              "decltype(rest)...rest__attribute__((unused))){body();}};"
              "::simt::enter(__PRETTY_FUNCTION__,::simt::LaunchBounds{128,2},simt_thread::simt_body,out,a,f,n,rest...);"
              "}");
}

TEST(Lower, AParameterWithoutANameGetsOne) {
    const auto parameters = [](const std::string& list) {
        const std::string text = lowered("__global__ void k(" + list + ") { body(); }");
        const std::string arguments = text.substr(text.find("simt_thread::simt_body") + 22);
        return text.substr(0, text.find(" { struct")) + arguments.substr(0, arguments.find(';'));
    };
    EXPECT_EQ(parameters("std::bool_constant<B>, float* out, const ns::T&"),
              "__global__ void k(std::bool_constant<B> simt_unnamed_0, float* out, const ns::T& simt_unnamed_2)"
              ", simt_unnamed_0, out, simt_unnamed_2)");
    EXPECT_EQ(parameters("const T, T, A<T, 3> = {}, int, float* __restrict__ const"),
              "__global__ void k(const T simt_unnamed_0, T simt_unnamed_1, A<T, 3> simt_unnamed_2 = {}, int "
              "simt_unnamed_3, float* __restrict__ const simt_unnamed_4), simt_unnamed_0, "
              "simt_unnamed_1, simt_unnamed_2, simt_unnamed_3, simt_unnamed_4)");
    EXPECT_EQ(parameters("const T t, ns::A<T> a, int* const p, unsigned n, const struct S s"),
              "__global__ void k(const T t, ns::A<T> a, int* const p, unsigned n, const struct S s)"
              ", t, a, p, n, s)");
    EXPECT_EQ(parameters("void"), "__global__ void k(void))");
    EXPECT_EQ(parameters(""), "__global__ void k())");
}

TEST(Lower, ForADebuggerTheBodysFunctionHasTheKernelsName) {
    const simt::Source source(
        "template <class... U>\n__global__ void k(int* out, U... rest) { __shared__ int x; body(); }");
    EXPECT_EQ(without_spaces(simt::lower(source, simt::Purpose::debugger)),
              "template<class...U>\n__global__voidk(int*out,U...rest){"
              "structsimt_thread{SIMT_KERNEL_BODYk(decltype(out)out__attribute__((unused)),"
              "decltype(rest)...rest__attribute__((unused))){::simt::thread_begins();__shared__intx;body();}};"
              "::simt::enter(__PRETTY_FUNCTION__,::simt::LaunchBounds{},simt_thread::k,out,rest...);}");
}

TEST(Lower, ADeclarationOfAKernelStays) {
    const char* text = "__global__ void k(int* x); template __global__ void k<3>(int*);";
    EXPECT_EQ(lowered(text), text);
}

TEST(Lower, ExternSharedBecomesAPointer) {
    EXPECT_EQ(lowered("extern __shared__ __align__(16) volatile float s[];"),
              "[[maybe_unused]] extern volatile float simt_extern_shared_s[]; "
              "[[maybe_unused]] volatile float *const s = reinterpret_cast<volatile float *>(simt_dynamic_shared);");
}

TEST(Lower, VariablesOfTheDeviceGetSectionsAndFunctionsDoNot) {
    EXPECT_NE(lowered("__device__ int x;").find("SIMT_DEVICE_VARIABLE int x"), std::string::npos);
    EXPECT_NE(lowered("static __constant__ float t[4] = {1};").find("static SIMT_CONSTANT_VARIABLE float t"),
              std::string::npos);
    for (const char* text : {"__device__ int f(int x) { return x; }", "__host__ __device__ X& operator=(const X&);",
                             "__device__ constexpr int k = 3;", "auto f = [=] __device__ (int i) { return i; };"}) {
        EXPECT_EQ(lowered(text), text);
    }
}

TEST(Lower, WordsBeforeAVariableMayComeInAnyOrder) {
    for (const char* text : {"__managed__ __device__ int x;", "__device__ __managed__ int x;"}) {
        const std::string result = lowered(text);
        EXPECT_NE(result.find("SIMT_MANAGED_VARIABLE"), std::string::npos) << result;
        EXPECT_EQ(result.find("SIMT_MANAGED_VARIABLE"), result.rfind("SIMT_MANAGED_VARIABLE")) << result;
        EXPECT_EQ(result.find("SIMT_DEVICE"), std::string::npos) << result;
    }
}

TEST(Lower, InlineVariablesAndTemplatesOfTheDeviceGetAScope) {
    EXPECT_EQ(lowered("inline __device__ int x = 3; int y;"),
              "SIMT_DEVICE_SCOPE { inline __device__ int x = 3; } int y;");
    EXPECT_EQ(lowered("template <class T, int N = 2>\n__constant__ T table[N];"),
              "SIMT_CONSTANT_SCOPE { template <class T, int N = 2>\n__constant__ T table[N]; }");
    for (const char* text : {"template <class T> __device__ T f(T x) { return x; }", "inline __device__ int f();",
                             "template <int N> __device__ constexpr int k = N;",
                             "inline __device__ bool operator<(A a, A b) { return a.x < b.x; }",
                             "struct S { template <class T> __device__ T operator()(T x) const; };"}) {
        EXPECT_EQ(lowered(text), text);
    }
}

TEST(Lower, AnAlignmentBehindSharedGoesFirst) {
    const std::string text = lowered("void f() { __shared__ alignas(16) int x[3]; }");
    EXPECT_NE(text.find(" alignas(16) __shared__  int x[3];"), std::string::npos) << text;
    EXPECT_NE(lowered("void f() { alignas(16) __shared__ int x[3]; }").find(" alignas(16) __shared__ int x[3];"),
              std::string::npos);
}

TEST(Lower, TheTypeOfASharedVariableIsNoted) {
    EXPECT_NE(lowered("void f() { __shared__ A<int, 2> x[3][4], y; }").find("SIMT_NOTE_TYPE(x, "), std::string::npos);
    EXPECT_NE(
        lowered("__shared__ __align__(16) struct { float a; int b; } both;").find("SIMT_NOTE_TYPE(both, 0, true)"),
        std::string::npos);
    EXPECT_NE(lowered("__shared__ struct { float a; int b; } both;").find("SIMT_NOTE_TYPE(both, 0, false)"),
              std::string::npos);
}

TEST(Lower, TheTypeOfEachVariableOfADeclarationIsNoted) {
    const std::string text = lowered("void f() { __shared__ A<int, 2> x[3][4], y; }");
    EXPECT_NE(text.find("SIMT_NOTE_TYPE(x, "), std::string::npos) << text;
    EXPECT_NE(text.find("SIMT_NOTE_TYPE(y, "), std::string::npos) << text;
}

TEST(Lower, AFunctionsUseOfItsSharedVariablesIsNotedAndAKernelsOwnIsNot) {
    const auto uses = [](const std::string& text) {
        const std::string result = lowered(text);
        int count = 0;
        for (std::size_t at = result.find("USE("); at != std::string::npos; at = result.find("USE(", at + 1)) {
            count++;
        }
        return count;
    };
    EXPECT_EQ(uses("void f() { __shared__ int x[3], y; }"), 2);
    EXPECT_EQ(uses("namespace a::b { void f() { if (true) { __shared__ int x; } } }"), 1);
    EXPECT_EQ(uses("__global__ void k() { __shared__ int x; { __shared__ int y; } }"), 0);
    EXPECT_EQ(uses("__global__ void k() { __shared__ int x; } void f() { __shared__ int y; }"), 1);
    for (const char* around : {"", "namespace {", "namespace a {", "namespace a::b {", "extern \"C\" {"}) {
        EXPECT_EQ(uses(std::string(around) + "__shared__ int x;" + (*around == '\0' ? "" : "}")), 0) << around;
    }
}

TEST(Lower, AnInitializerOfASharedVariableIsRefused) {
    for (const char* text : {"void f() { __shared__ int x = 0; }", "void f() { __shared__ float t[2][2] = {}; }",
                             "void f() { __shared__ int x{}; }", "void f() { __shared__ int a{1}, b; }"}) {
        EXPECT_THROW(lowered(text), simt::SourceError) << text;
    }
    for (const char* text :
         {"void f() { __shared__ struct { int a = 1; } x; }", "void f() { __shared__ A<(1 == 2)> x; }",
          "void f() { __shared__ int x[N = 2]; }", "void f() { __shared__ int x; y = 0; }"}) {
        EXPECT_NO_THROW(lowered(text)) << text;
    }
}

TEST(Lower, AStatementWithABarrierSaysWhoIsWithinIt) {
    EXPECT_EQ(lowered("void f() { if (a) { __syncthreads(); } else if (b) { c(); } }"),
              "void f() { if (SIMT_WITHIN(11); a) { __syncthreads(); } else if (b) { c(); } }");
    EXPECT_EQ(lowered("void f() { if constexpr (a) { c(); } else { __syncthreads_or(1); } }"),
              "void f() { if constexpr (SIMT_WITHIN(11); a) { c(); } else { __syncthreads_or(1); } }");
    EXPECT_EQ(lowered("void f() { switch (a) { case 1: block.sync(); } }"),
              "void f() { switch (SIMT_WITHIN(11); a) { case 1: block.sync(); } }");
    EXPECT_EQ(lowered("void f() { for (;;) __syncthreads(); while (a) { __syncthreads(); } }"),
              "void f() { SIMT_WITHIN_LOOP(11) for (;;) __syncthreads(); SIMT_WITHIN_LOOP(37) while (a) { "
              "__syncthreads(); } }");
    EXPECT_EQ(lowered("void f() { do { if (a) { b(); } __syncthreads(); } while (__syncthreads_or(a)); }"),
              "void f() { SIMT_WITHIN_LOOP(11) do { if (a) { b(); } __syncthreads(); } while (__syncthreads_or(a)); }");
    for (const char* text :
         {"void f() { __syncthreads(); if (a) { b(); } }", "void f() { if (a) b(); __syncthreads(); }",
          "void f() { if (int x = a; x) { __syncthreads(); } }", "#define M(a) if (a) { __syncthreads(); }\n"}) {
        EXPECT_EQ(lowered(text), text);
    }
}

TEST(Lower, ACallOfAFunctionOrMacroWithABarrierCountsAsOne) {
    EXPECT_NE(lowered("void f() { if (a) { g(); } } struct S { void h() const { __syncthreads(); } }; "
                      "void g() { s.h(); }")
                  .find("if (SIMT_WITHIN(11); a)"),
              std::string::npos);
    EXPECT_NE(lowered("#define MEET() __syncthreads()\nvoid f() { if (a) { MEET(); } }").find("if (SIMT_WITHIN("),
              std::string::npos);
    EXPECT_EQ(lowered("__global__ void k() { __syncthreads(); } void host() { if (a) { k(); } }").find("if (SIMT"),
              std::string::npos)
        << "the host launches kernels, and waits at no barrier of theirs";
}

TEST(Lower, AFunctionThatThreadsMayLeaveBeforeItsBarrierSaysWhoIsWithinIt) {
    EXPECT_EQ(lowered("int f() { if (a) { return 0; } __syncthreads(); return 1; }"),
              "int f() { SIMT_WITHIN(8); if (a) { return 0; } __syncthreads(); return 1; }");
    EXPECT_EQ(lowered("int f() { __syncthreads(); return 1; }"), "int f() { __syncthreads(); return 1; }");
}

TEST(Lower, BracesThatAMacroClosesAreNoError) {
    const char* text = "void f() { __syncthreads(); if (a) { END";
    EXPECT_EQ(lowered(text), text);
}

TEST(Lower, ErrorsNameTheUsersFileAndLine) {
    try {
        lowered("# 1 \"dir/a.cu\"\nint x;\nvoid f() { k<<<1, 2>>(x); }\n");
        FAIL() << "no error";
    } catch (const simt::SourceError& error) {
        EXPECT_STREQ(error.what(), "dir/a.cu:2: error: a launch '<<<' without its '>>>('");
    }
    EXPECT_THROW(lowered("void f() { asm(\"ret;\"); }"), simt::SourceError);
}

TEST(Lower, ALaunchFromAKernelIsRefused) {
    for (const char* text :
         {"__global__ void k() { f<<<1, 2>>>(); }", "__device__ void g(int n) { if (n > 0) { f<<<1, 2>>>(n); } }",
          "static __device__ __forceinline__ T<int> g(int n) noexcept(true) { f<<<1, 2>>>(n); }"}) {
        try {
            lowered(text);
            FAIL() << text;
        } catch (const simt::SourceError& error) {
            EXPECT_NE(std::string(error.what()).find("a launch from a kernel (dynamic parallelism)"),
                      std::string::npos);
        }
    }
    for (const char* text :
         {"__global__ void k() { g(); } void h() { k<<<1, 2>>>(); }", "__device__ int x; void h() { k<<<1, 2>>>(); }",
          "__device__ int f(); void h() { k<<<1, 2>>>(); }", "__device__ int x = {3}; void h() { k<<<1, 2>>>(); }",
          "__host__ __device__ void h() { k<<<1, 2>>>(); }", "__device__ __host__ void h() { k<<<1, 2>>>(); }"}) {
        EXPECT_NO_THROW(lowered(text)) << text;
    }
}

TEST(Lower, SystemHeadersAreNotTouched) {
    const char* text = "# 1 \"/usr/include/x.h\" 1 3\n__noinline__ asm(\"nop\");\n# 2 \"a.cu\" 2\nint x;\n";
    EXPECT_EQ(lowered(text), text);
}

TEST(LowerPtx, AssignsSpecialRegisterOnTheSameLines) {
    EXPECT_EQ(lowered("asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(x));"), "(x) = ::simt::ptx::laneid();");
    const std::string text =
        "asm volatile (\n\"{mov.u64 %0,\"\n\" %globaltimer;}\"\n : \"=l\" (t[f(1)])\n : : \"memory\");";
    EXPECT_EQ(lowered(text), "\n\n\n(t[f(1)]) = ::simt::ptx::globaltimer()\n;");
    EXPECT_EQ(lowered("asm(\"mov.u32 %1, %tid.x; mov.u32 %0, %tid.y;\" : \"=r\"(x), \"=r\"(y));"),
              "(x) = ::simt::ptx::tid_y(), (y) = ::simt::ptx::tid_x();");
}

TEST(LowerPtx, CallsInstructionWithInputsInPlace) {
    EXPECT_EQ(lowered("asm(\"bfe.u32 %0, %1, 3, %2;\" : \"=r\"(x) : \"r\"(a, b), \"r\"(c));"),
              "(x) = ::simt::ptx::bfe_u32((a, b), 3, (c));");
}

TEST(LowerPtx, CallsConversions) {
    EXPECT_EQ(lowered("asm(\"cvt.rna.tf32.f32 %0, %1;\" : \"=r\"(x) : \"f\"(y));"),
              "(x) = ::simt::ptx::cvt_rna_tf32_f32((y));");
    EXPECT_EQ(lowered("asm(\"cvt.rn.bf16x2.f32 %0, %1, %2;\" : \"=r\"(x) : \"f\"(y), \"f\"(z));"),
              "(x) = ::simt::ptx::cvt_rn_bf16x2_f32((y), (z));");
    EXPECT_EQ(lowered("asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(x) : \"f\"(y));"),
              "(x) = ::simt::ptx::ex2_approx_ftz_f32((y));");
    EXPECT_EQ(lowered("asm(\"{ .reg .u64 a; cvta.to.shared.u64 a, %1; cvt.u32.u64 %0, a; }\" : \"=r\"(x) : \"l\"(p));"),
              "(x) = ::simt::ptx::cvta_to_shared_u32((p));");
}

TEST(LowerPtx, HandsAllOperandsToInstructionsOnMatrices) {
    EXPECT_EQ(lowered("asm volatile(\"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5}, \"\n"
                      "\"{%6}, {%0,%1,%2,%3};\" : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3])\n"
                      ": \"r\"(a[0]), \"r\"(a[1]), \"r\"(b));"),
              "::simt::ptx::mma_sync_operands<::simt::MmaShape::m16n8k4_tf32, 0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3>(\n"
              "(d[0]), (d[1]), (d[2]), (d[3]), \n(a[0]), (a[1]), (b));");
    EXPECT_EQ(
        lowered("asm(\"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 { %0, %1 }, {%3,%4},{%2},{%5, %6};\\n\" : "
                "\"=r\"(d), \"=r\"(e) : \"r\"(b), \"r\"(a), \"r\"(f), \"r\"(c), \"r\"(g));"),
        "::simt::ptx::mma_sync_operands<::simt::MmaShape::m16n8k8_f16_f16, 0, 1, 3, 4, 2, 5, 6>("
        "(d), (e), (b), (a), (f), (c), (g));");
    for (const char* name : {"m8n8.x2.trans.shared.b16", "x2.m8n8.trans.shared.b16", "x2.trans.m8n8.shared::cta.b16"}) {
        EXPECT_EQ(lowered(std::string("asm(\"ldmatrix.sync.aligned.") + name +
                          " {%0, %1}, [%2 + 16];\" : \"=r\"(x), \"=r\"(y) : \"r\"(p) : \"memory\");"),
                  "::simt::ptx::ldmatrix_operands<true, 16, 2, 0, 1>((x), (y), (p));")
            << name;
    }
}

TEST(LowerPtx, CallsAsynchronousCopiesAndTheirGroups) {
    EXPECT_EQ(
        lowered("asm volatile(\"cp.async.cg.shared.global.L2::128B [%0], [%1], %2;\\n\" :: \"r\"(to), \"l\"(from), "
                "\"n\"(16));"),
        "::simt::ptx::cp_async((to), (from), (16));");
    EXPECT_EQ(lowered("asm volatile(\"cp.async.ca.shared.global [%0], [%1], 4, %2;\" :: \"r\"(to), \"l\"(from), "
                      "\"r\"(n) : \"memory\");"),
              "::simt::ptx::cp_async((to), (from), 4, (n));");
    EXPECT_EQ(lowered("asm volatile(\"cp.async.commit_group;\\n\" ::);"), "::simt::ptx::cp_async_commit_group();");
    EXPECT_EQ(lowered("asm volatile(\"cp.async.wait_group %0;\" :: \"n\"(N));"),
              "::simt::ptx::cp_async_wait_group((N));");
    EXPECT_EQ(lowered("asm volatile(\"cp.async.wait_group 0;\" ::: \"memory\");"),
              "::simt::ptx::cp_async_wait_group(0);");
    EXPECT_EQ(lowered("asm volatile(\"cp.async.wait_all;\");"), "::simt::ptx::cp_async_wait_all();");
    for (const char* text : {"asm(\"cp.async.cg.shared.global [%1], [%0], 16;\" :: \"l\"(from), \"r\"(to));",
                             "asm(\"cp.async.cg.shared.global [%0], [%1];\" :: \"r\"(to), \"l\"(from));",
                             "asm(\"cp.async.bulk.commit_group;\");", "asm(\"cp.async.wait_group;\");"}) {
        EXPECT_THROW(lowered(text), simt::SourceError) << text;
    }
}

TEST(LowerPtx, NamesTheInstructionOnMatricesThatItRefuses) {
    for (const std::string name :
         {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32",
          "stmatrix.sync.aligned.m8n8.x1.shared.b16", "movmatrix.sync.aligned.m8n8.trans.b16",
          "wgmma.fence.sync.aligned", "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32"}) {
        try {
            lowered("asm(\"{ .reg .b32 a; " + name + " a; }\" :: \"r\"(x));");
            ADD_FAILURE() << name;
        } catch (const simt::SourceError& error) {
            EXPECT_NE(std::string(error.what()).find(": " + name + " is not on the CPU device"), std::string::npos)
                << error.what();
        }
    }
}

TEST(LowerPtx, RefusesWhatItDoesNotRead) {
    for (const char* text :
         {"asm(\"membar.gl;\");",
          "asm(\"mov.u32 %0, %total_smem_size;\" : \"=r\"(x));",
          "asm(\"mov.u32 %0, %laneid\" : \"=r\"(x));",
          "asm(\"mov.u64 %0, %laneid;\" : \"=l\"(x));",
          "asm(\"mov.u32 %0, %laneid;\" : \"=l\"(x));",
          "asm(\"mov.u32 %0, %laneid;\" : \"=r\"(x), \"=r\"(y));",
          "asm(\"mov.u32 %0, %laneid; bar.sync 0;\" : \"=r\"(x));",
          "asm(\"mov.u32 %0, %1;\" : \"=r\"(x) : \"r\"(y));",
          "asm(\"@p mov.u32 %0, %laneid;\" : \"=r\"(x));",
          "asm(\"bfind.u32 %0, %1;\" : \"=r\"(x) : \"l\"(y));",
          "asm(\"prmt.b32 %0, %2, %1, %3;\" : \"=r\"(x) : \"r\"(a), \"r\"(b), \"r\"(c));",
          "asm(\"\" : \"+r\"(x));",
          "asm(\"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0}, [%1];\" : \"=r\"(x) : \"r\"(p));",
          "asm(\"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%2];\" : \"=r\"(x) : \"r\"(p));",
          "asm(\"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%1}, [%0];\" : \"=r\"(x) : \"r\"(p));",
          "asm(\"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2}, {%3}, {%4,%5};\" : \"=r\"(d), "
          "\"=r\"(e) : \"r\"(a), \"r\"(b), \"r\"(c), \"r\"(f));",
          "asm(\"{ .reg .u64 a; cvta.to.shared.u64 a, %1; cvt.u32.u64 %0, b; }\" : \"=r\"(x) : \"l\"(p));",
          "asm(mov);",
          "asm",
          "asm(",
          "asm(\"\"",
          "asm(\"mov.u32 %0, %laneid;\" : \"=r\"(x"}) {
        EXPECT_THROW(lowered(text), simt::SourceError) << text;
    }
}

TEST(LowerPtx, LeavesEmptyTemplate) {
    const char* text = "asm volatile(\"\" ::: \"memory\");";
    EXPECT_EQ(lowered(text), text);
}

}  // namespace
