// SPDX-License-Identifier: MIT
//
// The functions of cuBLAS that the CPU device lacks: simt-lower refuses their use.
#pragma once
#pragma GCC system_header

// One list is one line.
// clang-format off
#pragma simt refuses cublasAsumEx,cublasAxpyEx,cublasCaxpy,cublasCcopy,cublasCdgmm,cublasCdotc,cublasCdotu,cublasCgbmv,cublasCgeam,cublasCgelsBatched,cublasCgemm such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasCgemm3m,cublasCgemm3mBatched,cublasCgemm3mEx,cublasCgemm3mStridedBatched,cublasCgemmBatched,cublasCgemmEx,cublasCgemmStridedBatched such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasCgemv,cublasCgemvBatched,cublasCgemvStridedBatched,cublasCgeqrfBatched,cublasCgerc,cublasCgeru,cublasCgetrfBatched,cublasCgetriBatched such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasCgetrsBatched,cublasChbmv,cublasChemm,cublasChemv,cublasCher,cublasCher2,cublasCher2k,cublasCherk,cublasCherk3mEx,cublasCherkEx such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasCherkx,cublasChpmv,cublasChpr,cublasChpr2,cublasCmatinvBatched,cublasCopyEx,cublasCrot,cublasCrotg,cublasCscal,cublasCsrot such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasCsscal,cublasCswap,cublasCsymm,cublasCsymv,cublasCsyr,cublasCsyr2,cublasCsyr2k,cublasCsyrk,cublasCsyrk3mEx,cublasCsyrkEx,cublasCsyrkx such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasCtbmv,cublasCtbsv,cublasCtpmv,cublasCtpsv,cublasCtpttr,cublasCtrmm,cublasCtrmv,cublasCtrsm,cublasCtrsmBatched,cublasCtrsv,cublasCtrttp such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasDasum,cublasDaxpy,cublasDcopy,cublasDdgmm,cublasDdot,cublasDgbmv,cublasDgeam,cublasDgelsBatched,cublasDgemmBatched such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasDgemmGroupedBatched,cublasDgemmStridedBatched,cublasDgemv,cublasDgemvBatched,cublasDgemvStridedBatched,cublasDgeqrfBatched,cublasDger such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasDgetrfBatched,cublasDgetriBatched,cublasDgetrsBatched,cublasDmatinvBatched,cublasDnrm2,cublasDotEx,cublasDotcEx,cublasDrot,cublasDrotg such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasDrotm,cublasDrotmg,cublasDsbmv,cublasDscal,cublasDspmv,cublasDspr,cublasDspr2,cublasDswap,cublasDsymm,cublasDsymv,cublasDsyr such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasDsyr2,cublasDsyr2k,cublasDsyrk,cublasDsyrkx,cublasDtbmv,cublasDtbsv,cublasDtpmv,cublasDtpsv,cublasDtpttr,cublasDtrmm,cublasDtrmv such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasDtrsm,cublasDtrsmBatched,cublasDtrsv,cublasDtrttp,cublasDzasum,cublasDznrm2,cublasGemmGroupedBatchedEx such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasGetEmulationSpecialValuesSupport,cublasGetEmulationStrategy,cublasGetFixedPointEmulationMantissaBitCountPointer such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasGetFixedPointEmulationMantissaBitOffset,cublasGetFixedPointEmulationMantissaControl,cublasGetFixedPointEmulationMaxMantissaBitCount such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasGetLoggerCallback,cublasGetMatrix,cublasGetMatrixAsync,cublasGetSmCountTarget,cublasGetVector,cublasGetVectorAsync such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasHSHgemvBatched,cublasHSHgemvStridedBatched,cublasHSSgemvBatched,cublasHSSgemvStridedBatched,cublasHgemm,cublasHgemmBatched such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasHgemmStridedBatched,cublasIamaxEx,cublasIaminEx,cublasIcamax,cublasIcamin,cublasIdamax,cublasIdamin,cublasIsamax,cublasIsamin such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasIzamax,cublasIzamin,cublasLoggerConfigure,cublasNrm2Ex,cublasRotEx,cublasRotgEx,cublasRotmEx,cublasRotmgEx,cublasSasum,cublasScalEx such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasScasum,cublasScnrm2,cublasScopy,cublasSdgmm,cublasSdot,cublasSetEmulationSpecialValuesSupport,cublasSetEmulationStrategy such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasSetFixedPointEmulationMantissaBitCountPointer,cublasSetFixedPointEmulationMantissaBitOffset such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasSetFixedPointEmulationMantissaControl,cublasSetFixedPointEmulationMaxMantissaBitCount,cublasSetLoggerCallback,cublasSetMatrix such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasSetMatrixAsync,cublasSetSmCountTarget,cublasSetVector,cublasSetVectorAsync,cublasSgbmv,cublasSgelsBatched,cublasSgemmEx such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasSgemmGroupedBatched,cublasSgemvBatched,cublasSgemvStridedBatched,cublasSgeqrfBatched,cublasSger,cublasSgetrfBatched such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasSgetriBatched,cublasSgetrsBatched,cublasSmatinvBatched,cublasSrot,cublasSrotg,cublasSrotm,cublasSrotmg,cublasSsbmv,cublasSscal such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasSspmv,cublasSspr,cublasSspr2,cublasSswap,cublasSsymm,cublasSsymv,cublasSsyr,cublasSsyr2,cublasSsyr2k,cublasSsyrk,cublasSsyrkx such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasStbmv,cublasStbsv,cublasStpmv,cublasStpsv,cublasStpttr,cublasStrmm,cublasStrmv,cublasStrsm,cublasStrsmBatched,cublasStrsv,cublasStrttp such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasSwapEx,cublasTSSgemvBatched,cublasTSSgemvStridedBatched,cublasTSTgemvBatched,cublasTSTgemvStridedBatched,cublasUint8gemmBias such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasXerbla,cublasZaxpy,cublasZcopy,cublasZdgmm,cublasZdotc,cublasZdotu,cublasZdrot,cublasZdscal,cublasZgbmv,cublasZgeam,cublasZgelsBatched such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasZgemm,cublasZgemm3m,cublasZgemmBatched,cublasZgemmStridedBatched,cublasZgemv,cublasZgemvBatched,cublasZgemvStridedBatched such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasZgeqrfBatched,cublasZgerc,cublasZgeru,cublasZgetrfBatched,cublasZgetriBatched,cublasZgetrsBatched,cublasZhbmv,cublasZhemm,cublasZhemv such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasZher,cublasZher2,cublasZher2k,cublasZherk,cublasZherkx,cublasZhpmv,cublasZhpr,cublasZhpr2,cublasZmatinvBatched,cublasZrot,cublasZrotg such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasZscal,cublasZswap,cublasZsymm,cublasZsymv,cublasZsyr,cublasZsyr2,cublasZsyr2k,cublasZsyrk,cublasZsyrkx,cublasZtbmv,cublasZtbsv such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasZtpmv,cublasZtpsv,cublasZtpttr,cublasZtrmm,cublasZtrmv,cublasZtrsm,cublasZtrsmBatched,cublasZtrsv,cublasZtrttp,cublasSgemm_64 such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasDgemm_64,cublasSgemmStridedBatched_64,cublasSgemmBatched_64,cublasGemmEx_64,cublasGemmBatchedEx_64,cublasGemmStridedBatchedEx_64 such function of cuBLAS (LIBRARIES.md)
#pragma simt refuses cublasSgemv_64,cublasSgeam_64,cublasSaxpy_64,cublasSnrm2_64 such function of cuBLAS (LIBRARIES.md)
