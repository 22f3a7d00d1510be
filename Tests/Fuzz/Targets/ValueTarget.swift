import Model

/// Computations with untrusted numbers and words.
enum ValueTarget {
    static func run(_ bytes: [UInt8]) throws(BrokenInvariant) {
        var reader = ByteReader(bytes)
        switch reader.choice(6) {
        case 0: try checkCrop(&reader)
        case 1: try checkResize(&reader)
        case 2: try checkIdentifier(&reader)
        case 3: try checkLayout(&reader)
        case 4: try checkTime(&reader)
        default: checkSniffing(&reader)
        }
    }

    private static func checkCrop(_ reader: inout ByteReader) throws(BrokenInvariant) {
        let rectangle = PixelRect(x: reader.number(), y: reader.number(), size: reader.size())
        let bounds = reader.size()
        guard let part = rectangle.intersection(with: bounds) else { return }
        try expect(part.size.isPositive && part.x >= 0 && part.y >= 0, "a crop is not empty")
        try expect(
            part.size.width <= bounds.width - part.x && part.size.height <= bounds.height - part.y,
            "a crop lies in its image")
        try expect(part.intersection(with: bounds) == part, "cropping twice is cropping once")
    }

    /// Uses sizes within the limits of requests and images, as the geometry requires.
    private static func checkResize(_ reader: inout ByteReader) throws(BrokenInvariant) {
        func within(_ size: PixelSize) -> PixelSize {
            PixelSize(
                width: 1 + Int(size.width.magnitude % 0x7FFF_FFFF),
                height: 1 + Int(size.height.magnitude % 0x7FFF_FFFF))
        }
        let (source, box, mode) = (within(reader.size()), within(reader.size()), reader.mode())
        let geometry = ResizeGeometry(source: source, box: box, mode: mode)
        try expect(geometry.scaled.isPositive && geometry.output.isPositive, "a size is positive")
        let isInside = geometry.scaled.width <= box.width && geometry.scaled.height <= box.height
        let isAround = geometry.scaled.width >= box.width && geometry.scaled.height >= box.height
        let isInsideTurned =
            geometry.scaled.width <= box.height && geometry.scaled.height <= box.width
        switch mode {
        case .fit: try expect(isInside, "fit stays in the box")
        case .letterbox: try expect(isInside && geometry.output == box, "letterbox is the box")
        case .fill: try expect(isAround && geometry.output == box, "fill covers the box")
        case .stretch: try expect(geometry.scaled == box, "stretch is the box")
        case .cover: try expect(isAround && geometry.output == geometry.scaled, "cover cuts none")
        case .auto: try expect(geometry.output == geometry.scaled, "auto cuts nothing")
        case .fitTurned: try expect(isInside || isInsideTurned, "fit stays in the turned box")
        case .coverTurned: try expect(geometry.output == geometry.scaled, "cover cuts nothing")
        case .reshape: try expect(isInside, "reshape stays in the box")
        }
        let still = ResizeGeometry(source: source, box: box, mode: mode, enlarges: false).scaled
        try expect(
            still.isPositive && still.width <= source.width && still.height <= source.height,
            "what does not enlarge does not")
        let shrink = DecodeNeed.cover(box, mode).shrink(for: source, permitted: [1, 2, 4, 8])
        try expect([1, 2, 4, 8].contains(shrink), "a permitted reduction is chosen")
    }

    private static func checkIdentifier(_ reader: inout ByteReader) throws(BrokenInvariant) {
        let bytes = reader.list()
        if let identifier = Identifier128(bytes: bytes) {
            try expect(identifier.bytes == bytes, "16 bytes are 16 bytes")
            try expect(Identifier128(hex: identifier.hex) == identifier, "digits say the bits")
        } else {
            try expect(bytes.count != Identifier128.byteCount, "16 bytes are an identifier")
        }
        let text = reader.text()
        guard let identifier = Identifier128(hex: text) else { return }
        try expect(identifier.hex == text.lowercased(), "digits are those that were read")
    }

    private static func checkLayout(_ reader: inout ByteReader) throws(BrokenInvariant) {
        let planes = (0..<reader.choice(4)).map { _ in
            PixelPlane(
                bands: reader.pick(PixelPlane.Bands.allCases) ?? .rgb, offset: reader.number(),
                size: reader.size(), stride: reader.number())
        }
        let layout = PixelLayout(planes: planes, orientation: .upright)
        guard let count = layout.byteCount else { return }
        for plane in planes {
            try expect(
                plane.stride / Int(plane.bands.rawValue) >= plane.size.width
                    && plane.offset + plane.stride * plane.size.height <= count,
                "the rows fit into the bytes")
        }
    }

    private static func checkTime(_ reader: inout ByteReader) throws(BrokenInvariant) {
        let start = Instant(nanoseconds: reader.number())
        let step: Int = reader.number()
        let later = start.adding(milliseconds: step)
        try expect(later >= start, "time does not run backwards")
        let passed = later.milliseconds(since: start)
        try expect(passed >= 0 && passed <= max(0, step), "no more time passes than was added")
        try expect(start.milliseconds(since: later) == 0, "nothing passes backwards")
    }

    private static func checkSniffing(_ reader: inout ByteReader) {
        let tail = reader.list()
        _ = ImageFormat.sniff(reader.rest(), tail: tail)
    }
}
