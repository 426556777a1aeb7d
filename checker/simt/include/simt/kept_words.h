// SPDX-License-Identifier: MIT
//
// Read after all stand-in headers. CUDA's words are macros there (qualifiers.h); here they become macros that stand for
// themselves, so that the preprocessor leaves them where simt-lower reads them. The header does not
// call itself the system's: the preprocessor would mark each word as one of it.
#undef __global__
#define __global__ __global__
#undef __host__
#define __host__ __host__
#undef __device__
#define __device__ __device__
#undef __shared__
#define __shared__ __shared__
#undef __constant__
#define __constant__ __constant__
#undef __managed__
#define __managed__ __managed__
#undef __launch_bounds__
#define __launch_bounds__ __launch_bounds__
#undef __maxnreg__
#define __maxnreg__ __maxnreg__
