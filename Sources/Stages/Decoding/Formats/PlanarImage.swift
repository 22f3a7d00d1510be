import ImageModel
import Messages
import StageContract

/// An image on its way to planes: brightness and colours stay apart, as the file has them, which
/// saves converting them where another image of that kind is made of them.
protocol PlanarImage: ~Copyable {
    /// Writes the planes into a block of `output`, what is kept behind them.
    consuming func write(
        to output: some OutputSpace, with kept: KeptBytes, cancellation: CancellationFlag
    ) throws(ImageError) -> DecodedImage.Frame
}

extension PixelPlane {
    /// Bytes from one row of a plane to the next: each begins where vector code wants it.
    static func stride(_ columns: Int) -> Int { (columns + 63) / 64 * 64 }
}
