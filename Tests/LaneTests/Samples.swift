import JPEG
import StageKit

/// JPEGs that the tests share; each is made once.
enum Samples {
    static let sizes = [(601, 403), (320, 240), (333, 77)]

    static func jpeg(
        _ width: Int, _ height: Int, _ subsampling: JPEGEncoding.Subsampling,
        orientation: Int = 1
    ) throws -> Lanes {
        let bytes = try TestPicture.photograph(width, height).jpeg(subsampling)
        return Lanes(bytes: orientation == 1 ? bytes : bytes.withEXIF(orientation: orientation))
    }
}
