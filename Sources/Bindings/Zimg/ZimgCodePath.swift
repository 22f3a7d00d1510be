internal import CZimg

/// The instructions that resample. zimg has a version of its loops for each; the results are meant
/// to be the same.
public enum ZimgCodePath: CaseIterable, Hashable, Sendable {
    /// The best that this processor has, AVX2 at most: zimg 3.0.4 takes wrong columns with AVX-512.
    case automatic
    /// Plain C, which every processor has: what the others are measured against.
    case portable
    case sse, sse2, avx, f16c, avx2
    /// AVX-512 as of Skylake-X; with VNNI; with VBMI and IFMA; with both and more.
    case avx512SKX, avx512CLX, avx512PMC, avx512SNC

    /// Whether this processor, and the system on it, have these instructions.
    public var isAvailable: Bool { czimg_has_code(shim) != 0 }

    /// Whether it uses registers of 512 bits.
    public var isAVX512: Bool {
        switch self {
        case .avx512SKX, .avx512CLX, .avx512PMC, .avx512SNC: true
        default: false
        }
    }

    var shim: czimg_code {
        switch self {
        case .automatic: CZIMG_AUTOMATIC
        case .portable: CZIMG_PORTABLE
        case .sse: CZIMG_SSE
        case .sse2: CZIMG_SSE2
        case .avx: CZIMG_AVX
        case .f16c: CZIMG_F16C
        case .avx2: CZIMG_AVX2
        case .avx512SKX: CZIMG_AVX512_SKX
        case .avx512CLX: CZIMG_AVX512_CLX
        case .avx512PMC: CZIMG_AVX512_PMC
        case .avx512SNC: CZIMG_AVX512_SNC
        }
    }
}
