import ImageModel
import Vips

extension SourceImage {
    /// How it is coded, by its header.
    var coding: StoredCoding {
        if let stated = decoder.format.traits.input?.coding {
            return stated(HeaderBytes(Span(_unsafeBytes: bytes)))
        }
        return StoredCoding(header.isInterlaced ? .whole : .streamed)
    }

    /// Bytes of private memory that its decoder takes at that scale.
    func memoryBytes(at scale: DecodeScale, composing: Bool) -> Int {
        guard let rows = decoder.format.traits.input?.memory else { return 0 }
        let coding = coding
        let isStreamed = coding.coding == .streamed
        let size = codedSize ?? (isStreamed ? scale.size(storedSize) : storedSize)
        let colors = header.bands < 3 ? 1 : 3
        let decoding = rows[coding.coding].bytes(
            pixels: max(size.area ?? .max, coding.framePixels),
            channels: max(header.bands, colors + coding.extraChannels),
            sampleBytes: header.bytesPerBand)
        let kept = isStreamed ? decoder.keptBytes(of: self, at: scale) : 0
        let canvas =
            composing
            ? DecoderMemory.composing.bytes(
                pixels: storedSize.area ?? .max, channels: 0, sampleBytes: 0) : 0
        return [kept, canvas].reduce(decoding) { sum, more in
            let (total, overflows) = sum.addingReportingOverflow(more)
            return overflows ? .max : total
        }
    }
}

extension DecoderMemoryRows.Coding {
    /// For errors; `nil` for the usual one.
    var wording: String? {
        switch self {
        case .streamed: nil
        case .whole: "decoded as a whole"
        case .layered: "of several layers"
        }
    }
}
