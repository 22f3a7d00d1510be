import Vips

/// Bits of the samples of a file.
enum SampleBits {
    /// What a palette or a video codec stores, where that is not what libvips makes of it.
    static func stored(in image: VipsImage) -> Int? {
        let stored = image.number("palette-bit-depth") ?? image.number("heif-bitdepth")
        return stored.flatMap { (1...64).contains($0) ? $0 : nil }
    }
}
