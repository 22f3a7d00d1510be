import ImageModel
import Vips

/// What has to be done to stored pixels to display them: EXIF's tag, as a transposition followed by
/// mirroring.
struct Orientation: Equatable {
    /// Columns become rows first.
    let transposes: Bool
    /// Left and right are exchanged, after transposing.
    let mirrorsHorizontally: Bool
    /// Top and bottom are exchanged, after transposing.
    let mirrorsVertically: Bool

    /// - Parameter exif: the tag, 1 to 8; other numbers mean 1.
    init(exif: Int) {
        transposes = (5...8).contains(exif)
        mirrorsHorizontally = [2, 3, 6, 7].contains(exif)
        mirrorsVertically = [3, 4, 7, 8].contains(exif)
    }

    /// Nothing is to be done.
    var isUpright: Bool { !transposes && !mirrorsHorizontally && !mirrorsVertically }

    /// The size of what is displayed.
    func displayed(_ stored: PixelSize) -> PixelSize {
        transposes ? stored.transposed : stored
    }

    /// The pixels as they are displayed. A decoder makes rows from top to bottom; where another
    /// order is wanted, `image` is computed into memory first.
    func apply(to image: VipsImage) throws(VipsError) -> VipsImage {
        switch (transposes, mirrorsHorizontally, mirrorsVertically) {
        case (false, false, false): image
        case (false, true, false): try image.flippedHorizontally()
        case (false, true, true): try image.copiedToMemory().rotated(quarters: 2)
        case (false, false, true): try image.copiedToMemory().flippedVertically()
        case (true, true, false): try image.copiedToMemory().rotated(quarters: 1)
        case (true, false, true): try image.copiedToMemory().rotated(quarters: 3)
        case (true, false, false):
            try image.copiedToMemory().rotated(quarters: 1).flippedHorizontally()
        case (true, true, true):
            try image.copiedToMemory().rotated(quarters: 1).flippedVertically()
        }
    }
}
