import Model

/// Complete bitmaps, icons and cursors: the input is one, or is used to construct a bitmap.
enum BitmapTarget {
    static func run(_ bytes: [UInt8]) throws(BrokenInvariant) {
        let format = ImageFormat(file: bytes.span)
        let isOne = format == .bmp || format == .ico
        let file = isOne ? bytes : Array("BM".utf8) + bytes.dropFirst(2)
        let source = BlockReference(
            segment: 1, offset: 0, length: UInt64(max(1, file.count)), block: BlockID(1))
        let work = DecodeWork(source: source, need: .full, limits: BeginningTarget.limits)
        try BeginningTarget.decode(file, work)
    }
}
