import ImageModel
import Vips

extension Orientation {
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
