#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What `make test-toolkits` runs: puts together CUDA 12.4, the oldest that the course takes, in build/toolkits/12.4, and
# compiles and links with it all that is for nvcc, for the cards' architectures, warnings as errors. Debian's package has
# the compiler, Python's packages have headers and libraries (900 MB in all). Nothing of it is installed.
what="CUDA 12.4"
. "${BASH_SOURCE%/*}/apart.sh"
architectures=${ARCHITECTURES:-75 80 86 89 90a}
toolkit=$root/build/toolkits/12.4
tree=$root/build/toolkits/tree
log=$root/build/toolkits/log
mkdir -p build/toolkits

put_together() {
    debian_in "$toolkit/apt" trixie "main non-free"
    unpack_into "$toolkit/deb" nvidia-cuda-toolkit=12.4.*
    .venv/bin/python -m pip -qq --disable-pip-version-check download --no-deps --dest "$toolkit/wheels" \
        'nvidia-cuda-nvcc-cu12==12.4.131.*' 'nvidia-cuda-runtime-cu12==12.4.127.*' 'nvidia-cuda-cccl-cu12==12.4.127.*' \
        'nvidia-cublas-cu12==12.4.5.8.*' >"$log" 2>&1 || skip "pip's index does not give CUDA's packages of 12.4"
    for wheel in "$toolkit"/wheels/*.whl; do .venv/bin/python -m zipfile -e "$wheel" "$toolkit/wheels"; done
    local debian=$toolkit/deb/usr packages=$toolkit/wheels/nvidia
    mkdir -p "$toolkit"/{bin,nvvm/bin,include,lib64,cublas}
    cp "$debian"/bin/{cudafe++,fatbinary,bin2c,ptxas,nvlink,cuobjdump} "$debian"/lib/nvidia-cuda-toolkit/bin/nvcc "$toolkit/bin"
    cp -r "$debian/lib/nvidia-cuda-toolkit/bin/crt" "$toolkit/bin"
    cp "$debian/lib/nvidia-cuda-toolkit/bin/cicc" "$toolkit/nvvm/bin"
    cp -r "$debian/lib/nvidia-cuda-toolkit/libdevice" "$toolkit/nvvm"
    cp -r "$packages"/cuda_{runtime,nvcc,cccl}/include/. "$toolkit/include"
    cp -r "$packages"/cublas/{include,lib} "$toolkit/cublas"
    cp "$packages/cuda_runtime/lib/libcudart.so.12" "$toolkit/lib64"
    ln -s libcudart.so.12 "$toolkit/lib64/libcudart.so"
    # Which two the packages lack: programs get the shared library, and nothing calls a kernel from a kernel.
    echo 'INPUT(libcudart.so)' >"$toolkit/lib64/libcudart_static.a"
    echo 'int no_kernel_is_called_from_a_kernel;' | gcc -x c -c - -o "$toolkit/none.o"
    ar rcs "$toolkit/lib64/libcudadevrt.a" "$toolkit/none.o"
    cat >"$toolkit/bin/nvcc.profile" <<'PROFILE'
TOP                = $(_HERE_)/..
CICC_PATH          = $(TOP)/nvvm/bin
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
PATH               += $(CICC_PATH):$(_HERE_):
INCLUDES           += "-I$(TOP)/include" $(_SPACE_)
LIBRARIES          =+ $(_SPACE_) "-L$(TOP)/lib64"
PROFILE
    rm -rf "$toolkit"/{deb,wheels,apt,none.o}
    "$toolkit/bin/nvcc" --version | grep -q 'V12\.4\.' || fail "the packages' nvcc is another one"
    touch "$toolkit/complete"
}

if [ ! -e "$toolkit/complete" ]; then
    echo "fetching $what, 600 MB …"
    rm -rf "$toolkit"
    put_together
fi

copy_tree "$tree"
if [ ! -e "$tree/build" ]; then # what only g++ compiles is the same
    mkdir -p "$tree/build"
    for of_gxx in flags obj lib headers; do
        [ ! -e "build/$of_gxx" ] || cp -a "build/$of_gxx" "$tree/build"
    done
fi
codes=
for architecture in $architectures; do codes+=" -gencode arch=compute_$architecture,code=sm_$architecture"; done
echo "compiling all that is for nvcc with $what …"
# build/tools/gpu finds a card by a driver that is made up; what it says of the card is overridden. A stub leaves names unused.
export PATH=$toolkit/bin:$PATH FAKE_CARD="86 12040 a card that is not there" SOL_LIBCUDA=build/tests/fakes/cuda_driver.so
make_in "$tree" "$SOL_LIBCUDA"
make_in "$tree" -k -j2 CUBLAS="$toolkit/cublas" codes="$codes" cards="$codes" \
    gpu_flags='$(card_flags) $(codes) -Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror' \
    nvcc_warnings_lessons=-diag-suppress=177,550 for-nvcc
echo "$what compiles and links all that is for nvcc, for sm_${architectures// /, sm_}"
