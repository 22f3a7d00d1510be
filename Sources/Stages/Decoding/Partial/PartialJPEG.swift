import ImageModel
import JPEG
import StageContract
import Vips

/// The beginning of a JPEG: the rows that have arrived, or of one with several scans all rows of
/// the scans that have. The rest is grey.
///
/// libvips' loader gives up at the hundredth warning, and of a file with restarts each interval
/// that has not arrived is one.
struct PartialJPEG: FormatDecoder {
    let cancellation: CancellationFlag
    let missing: MissingPixels
    private let whole = JPEGDecoder()

    init(_ cancellation: CancellationFlag, _ missing: MissingPixels) {
        (self.cancellation, self.missing) = (cancellation, missing)
    }

    var format: ImageFormat { whole.format }
    var loaders: [VipsLoader] { whole.loaders }

    func header(_ bytes: UnsafeRawBufferPointer) throws(VipsError) -> VipsImage {
        try whole.header(bytes)
    }

    /// As many columns and rows as the loader of whole files makes.
    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        let made = try whole.open(bytes, at: scale)
        let readable = UnsafeRawBufferPointer(
            rebasing: bytes[..<JPEGBeginning.readableCount(bytes)])
        return try .partial(like: made, noting: missing) { pixels throws(VipsError) in
            do throws(JPEGError) {
                let decoder = try JPEGRowDecoder(beginning: readable, reduction: scale.denominator)
                let arrival = try decoder.decode(
                    into: pixels, columns: made.width, rows: made.height
                ) { cancellation.isCancelled }
                return ArrivedPixels(arrival)
            } catch {
                throw VipsError(partial: error)
            }
        }
    }

    func sides(
        of made: VipsHeader, _ source: SourceImage, at scale: DecodeScale
    ) -> (columns: ReducedSide, rows: ReducedSide) { whole.sides(of: made, source, at: scale) }

    func keptBytes(of source: SourceImage, at scale: DecodeScale) -> Int {
        whole.keptBytes(of: source, at: scale)
    }
}

extension ArrivedPixels {
    fileprivate init(_ arrival: JPEGArrival) {
        switch arrival {
        case .nothing: self = .nothing
        case .part: self = .part
        case .whole: self = .whole
        }
    }
}

extension VipsError {
    fileprivate init(partial error: JPEGError) {
        let kind: Kind =
            switch error.kind {
            case .corrupt: .corrupt
            case .unsupported: .unsupported
            case .cancelled, .refused: .killed
            case .outOfMemory: .tooLarge
            case .internal: .internal
            }
        self.init(kind: kind, operation: "jpeg", text: error.text)
    }
}
