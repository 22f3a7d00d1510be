import AVIF
import CodecSupport
import JPEG
import Model
import Vips
import WebP

/// JPEG: planes with libjpeg-turbo, without joining them; pixels with libvips.
struct JPEGFormatEncoder: FormatEncoder {
    let format = ImageFormat.jpeg

    func encode(_ lane: PlanarLane, _ spec: EncodingSpecification, to writer: BlockWriter) throws {
        let size = lane.plan.size
        let encoding = JPEGEncoding(
            width: size.width, height: size.height,
            subsampling: lane.isGray ? .gray : spec.subsamplesChroma ? .yuv420 : .yuv444,
            quality: quality(spec), isProgressive: spec.options.isProgressive,
            optimizesCoding: spec.options.optimizesCoding)
        let step = encoding.subsampling == .yuv420 ? 2 : 1
        let planes = try lane.planes(colorsEvery: PixelSize(width: step, height: step))
        let count = try withExtendedLifetime(planes) {
            try JPEGPlaneEncoder.encode(
                planes.map(\.source), as: encoding,
                into: { writer.next($0) }, isCancelled: { spec.cancellation.isCancelled })
        }
        writer.written(count)
    }

    func encode(
        _ image: VipsImage, _ spec: EncodingSpecification, to writer: BlockWriter
    ) throws -> Bool {
        try image.save(
            .jpeg(
                quality: quality(spec), progressive: spec.options.isProgressive,
                optimized: spec.options.optimizesCoding,
                subsampling: spec.subsamplesChroma ? .quarter : .full), to: writer)
        return image.header.hasAlpha
    }

    func embed(_ parts: EmbeddedParts, in writer: BlockWriter) throws {
        guard !parts.isEmpty else { return }
        try writer.insert(JPEGSegments.of(parts), at: JPEGSegments.place(in: writer.bytes))
    }

    private func quality(_ spec: EncodingSpecification) -> Int { max(1, spec.quality) }
}

/// Profile and metadata as JPEG segments (ITU-T T.81, B.2.4.6).
enum JPEGSegments {
    /// Returns the position after the start of the image and an optional JFIF segment.
    static func place(in file: UnsafeRawBufferPointer) -> Int {
        let start = 2
        guard file.count > start + 4, file[start] == 0xFF, file[start + 1] == 0xE0 else {
            return start
        }
        return start + 2 + (Int(file[start + 2]) << 8 | Int(file[start + 3]))
    }

    static func of(_ parts: EmbeddedParts) -> [UInt8] {
        MetadataSegments.of(exif: parts.exif, xmp: parts.xmp, iptc: parts.iptc)
            + profile(parts.profile)
    }

    /// Returns the file without application and comment segments at its beginning.
    static func bare(_ file: [UInt8]) -> [UInt8] {
        var place = 2
        while place + 4 <= file.count, file[place] == 0xFF,
            (0xE0...0xEF).contains(file[place + 1]) || file[place + 1] == 0xFE
        {
            place += 2 + (Int(file[place + 2]) << 8 | Int(file[place + 3]))
        }
        return Array(file.prefix(2) + file.dropFirst(place))
    }

    /// Splits a profile into as many segments as necessary (ICC.1:2022, B.4).
    private static func profile(_ profile: [UInt8]) -> [UInt8] {
        let head = Array("ICC_PROFILE\0".utf8)
        let step = MetadataSegments.bytesMax - head.count - 2
        let starts = Array(stride(from: 0, to: profile.count, by: step))
        return starts.enumerated().flatMap { index, start in
            let part = profile[start..<min(profile.count, start + step)]
            let counts = [UInt8(index + 1), UInt8(starts.count)]
            return MetadataSegments.segment(2, head + counts + part)
        }
    }
}

/// WebP with libwebp: from planes in its own range and subsampling, or from pixels.
struct WebPFormatEncoder: FormatEncoder {
    let format = ImageFormat.webp

    /// Sharp chroma subsampling is done by libwebp, which needs full-resolution chroma.
    func takesPlanes(_ options: OutputOptions) -> Bool { !options.sharpensChroma }

    func encode(_ lane: PlanarLane, _ spec: EncodingSpecification, to writer: BlockWriter) throws {
        let planes = try lane.limitedPlanes(colorsEvery: PixelSize(width: 2, height: 2))
        try withExtendedLifetime(planes) {
            try WebPEncoder.encode(
                planes: planes.map(\.source), as: encoding(lane.plan.size, spec),
                to: { writer.append($0) },
                isCancelled: { spec.cancellation.isCancelled })
        }
    }

    func encode(
        _ image: VipsImage, _ spec: EncodingSpecification, to writer: BlockWriter
    ) throws -> Bool {
        let colored = image.header.bands < 3 ? try image.convertedToSRGB() : image
        let header = colored.header
        let encoding = encoding(header.size, spec)
        try colored.withMemory { pixels in
            try WebPEncoder.encode(
                pixels: SampleSource(memory: pixels, stride: header.width * header.bands),
                bands: header.bands, as: encoding, to: { writer.append($0) },
                isCancelled: { spec.cancellation.isCancelled })
        }
        return try header.hasAlpha && hasAlpha(writer.bytes)
    }

    func encode(
        _ frames: StepFrames, _ spec: EncodingSpecification, to writer: BlockWriter
    ) throws -> Bool {
        let animation = try WebPAnimation(
            encoding(frames.size, spec), plays: frames.times.plays(atMost: 65_535))
        let most = min(0xFF_FFFF, WebPAnimation.durationMax / frames.count)
        var start = 0
        for (index, duration) in frames.times.durations(in: 1_000, within: 1...most).enumerated() {
            try frames.withPixels(of: index) { pixels in
                try animation.add(
                    pixels, from: start, isCancelled: { spec.cancellation.isCancelled })
            }
            start += duration
        }
        try animation.finish(
            at: start, to: { writer.append($0) },
            isCancelled: { spec.cancellation.isCancelled })
        return try hasAlpha(writer.bytes)
    }

    /// There is no chunk for IPTC.
    func embed(_ parts: EmbeddedParts, in writer: BlockWriter) throws {
        guard !parts.profile.isEmpty || !parts.exif.isEmpty || !parts.xmp.isEmpty else { return }
        try WebPContainer.embed(
            profile: parts.profile, exif: parts.exif, xmp: parts.xmp, in: writer.bytes
        ) { file in
            writer.restart()
            return writer.append(file)
        }
    }

    /// The encoder omits alpha if every pixel is opaque.
    private func hasAlpha(_ written: UnsafeRawBufferPointer) throws(VipsError) -> Bool {
        try VipsImage.webp(written).header.hasAlpha
    }

    private func encoding(_ size: PixelSize, _ spec: EncodingSpecification) -> WebPEncoding {
        WebPEncoding(
            width: size.width, height: size.height, quality: spec.quality,
            method: spec.effort(format), isLossless: spec.options.isWithoutLoss,
            nearLossless: spec.options.nearLossless ?? 100,
            alphaQuality: spec.options.alphaQuality,
            sharpensChroma: spec.options.sharpensChroma)
    }
}

/// AVIF with libavif and libaom: from planes in place, or from pixels.
struct AVIFFormatEncoder: FormatEncoder {
    let format = ImageFormat.avif

    func encode(_ lane: PlanarLane, _ spec: EncodingSpecification, to writer: BlockWriter) throws {
        let chroma: PlaneSubsampling = lane.isGray ? .gray : chroma(spec)
        let step = chroma == .yuv420 ? 2 : 1
        let planes = try lane.planes(colorsEvery: PixelSize(width: step, height: step))
        try withExtendedLifetime(planes) {
            try AVIFEncoder.encode(
                planes: planes.map(\.source), as: encoding(lane.plan.size, chroma, spec),
                to: { writer.append($0) },
                isCancelled: { spec.cancellation.isCancelled })
        }
    }

    func encode(
        _ image: VipsImage, _ spec: EncodingSpecification, to writer: BlockWriter
    ) throws -> Bool {
        let colored = try image.colored()
        let header = colored.header
        let encoding = encoding(header.size, chroma(spec), spec)
        return try colored.withMemory { pixels in
            try AVIFEncoder.encode(
                pixels: SampleSource(
                    memory: pixels, stride: header.width * header.bands * header.bytesPerBand),
                bands: header.bands, as: encoding, to: { writer.append($0) },
                isCancelled: { spec.cancellation.isCancelled })
        }
    }

    private func chroma(_ spec: EncodingSpecification) -> PlaneSubsampling {
        spec.subsamplesChroma ? .yuv420 : .yuv444
    }

    private func encoding(
        _ size: PixelSize, _ chroma: PlaneSubsampling, _ spec: EncodingSpecification
    ) -> AVIFEncoding {
        var encoding = AVIFEncoding(
            width: size.width, height: size.height, chroma: chroma, quality: spec.quality,
            alphaQuality: spec.options.alphaQuality,
            speed: AVIFEncoding.speedMax - spec.effort(format),
            isLossless: spec.options.isWithoutLoss)
        encoding.depth = spec.samples.bits
        encoding.colors = spec.samples.hdr.map { hdr in
            AVIFEncoding.Colors(
                primaries: hdr.primaries.rawValue, transfer: hdr.transfer.rawValue)
        }
        encoding.profile = spec.embedded.profile
        encoding.exif = spec.embedded.exif
        encoding.xmp = spec.embedded.xmp
        return encoding
    }
}
