import CodecSupport
import JPEG
import Model
import StageKit
import Synchronization

/// JPEGs shared by the tests; each is made once.
enum Samples {
    static let sizes = [(601, 403), (320, 240), (333, 77)]

    private struct Key: Hashable {
        let size: PixelSize
        let subsampling: PlaneSubsampling
    }

    private static let cache = Mutex<[Key: [UInt8]]>([:])

    static func jpeg(
        _ width: Int, _ height: Int, _ subsampling: PlaneSubsampling,
        orientation: Int = 1
    ) throws -> Lanes {
        let key = Key(size: PixelSize(width: width, height: height), subsampling: subsampling)
        let bytes = try cache.withLock { cache in
            if let bytes = cache[key] { return bytes }
            let bytes = try TestImage.photograph(width, height).jpeg(subsampling)
            cache[key] = bytes
            return bytes
        }
        return Lanes(bytes: orientation == 1 ? bytes : bytes.withEXIF(orientation: orientation))
    }
}
