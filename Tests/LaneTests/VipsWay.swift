import Model
import Testing
import Vips

@testable import Decoding

/// Processes a JPEG with libvips alone, as the reference for both lanes.
enum VipsWay {
    /// Decodes every pixel, applies each resize as a full Lanczos reduction, and encodes nothing.
    static func reference(_ bytes: [UInt8], _ job: Job) throws -> TestImage {
        try withImage(bytes, shrink: 1) { image, size in
            try samples(of: apply(job, to: image, size, gap: 1e6))
        }
    }

    /// Typical use: decoded at the same reduction, resized to the size, encoded.
    static func usual(_ bytes: [UInt8], _ job: Job) throws -> TestImage {
        let size = try withImage(bytes, shrink: 1) { _, size in size }
        let shrink = job.need.shrink(for: size, permitted: [1, 2, 4, 8])
        return try withImage(bytes, shrink: shrink) { image, _ in
            let image = try apply(job, to: image, size, gap: 2)
            guard job.output.format == .jpeg else { return try samples(of: image) }
            return try image.encoded(.jpeg(quality: OutputOptions.defaultQuality))
                .withUnsafeBytes { try samples(of: VipsImage.jpeg($0)) }
        }
    }

    /// The pixels of a JPEG, PNG or AVIF.
    static func decoded(_ bytes: [UInt8]) throws -> TestImage {
        try VipsLibrary(loaders: [.jpeg, .png, .heif]).exclusively {
            try bytes.withUnsafeBytes { input in
                let image =
                    switch input.first {
                    case 0x89: try VipsImage.png(input)
                    case 0: try VipsImage.load(input, by: .heif)
                    default: try VipsImage.jpeg(input)
                    }
                return try samples(of: image)
            }
        }
    }

    private static func withImage<Result>(
        _ bytes: [UInt8], shrink: Int,
        _ body: (_ displayed: VipsImage, _ size: PixelSize) throws -> Result
    ) throws -> Result {
        try VipsLibrary().exclusively {
            try bytes.withUnsafeBytes { input in
                let image = try VipsImage.jpeg(input, shrink: shrink)
                let orientation = Orientation(exif: image.header.orientation ?? 1)
                let displayed = try orientation.apply(to: image).copiedToMemory()
                return try body(
                    displayed, PixelSize(width: displayed.width, height: displayed.height))
            }
        }
    }

    static func samples(of image: VipsImage) throws -> TestImage {
        try TestImage(
            PixelSize(width: image.width, height: image.height), bands: image.header.bands,
            samples: image.samples())
    }

    /// Applies one step after the other to pixels. `size` is the image's size before the decoder
    /// reduced it; a reduced job begins with a resize, flips or rotations.
    private static func apply(
        _ job: Job, to image: VipsImage, _ size: PixelSize, gap: Double
    ) throws -> VipsImage {
        var (image, size) = (image, size)
        for step in job.steps {
            switch step {
            case .resize(let box, let mode, let enlarges):
                let geometry = ResizeGeometry(
                    source: size, box: box, mode: mode, enlarges: enlarges)
                image = try resized(image, to: geometry.scaled, gap: gap)
                image = try fitted(image, to: geometry.output)
                size = geometry.output
            case .crop(let rect):
                let part = try #require(rect.intersection(with: size))
                image = try image.extracted(
                    left: part.x, top: part.y, width: part.size.width, height: part.size.height)
                size = part.size
            case .rotate(let rotation):
                let quarters = try #require(rotation.quarterTurnsClockwise)
                image = try image.copiedToMemory().rotated(quarters: quarters)
                if quarters % 2 == 1 { size = size.transposed }
            case .flip(let horizontal, let vertical):
                image = try image.copiedToMemory()
                if horizontal { image = try image.flippedHorizontally() }
                if vertical { image = try image.flippedVertically() }
            case .overlay: Issue.record("overlays exist in one lane only")
            case .custom: Issue.record("custom steps exist in no lane")
            default: Issue.record("only one lane changes colours and canvas")
            }
        }
        return image
    }

    private static func resized(
        _ image: VipsImage, to target: PixelSize, gap: Double
    ) throws -> VipsImage {
        var image = image
        let across = Double(image.width) / Double(target.width)
        let down = Double(image.height) / Double(target.height)
        if down > 1 { image = try image.reducedVertically(by: down, gap: gap) }
        if across > 1 { image = try image.reducedHorizontally(by: across, gap: gap) }
        guard across < 1 || down < 1 else { return try image.copiedToMemory() }
        return try image.enlarged(
            horizontally: max(1, 1 / across), vertically: max(1, 1 / down), width: target.width,
            height: target.height
        ).copiedToMemory()
    }

    /// The center, or the image on a transparent canvas, as the resize mode requires.
    private static func fitted(_ image: VipsImage, to size: PixelSize) throws -> VipsImage {
        var image = image
        let (width, height) = (min(size.width, image.width), min(size.height, image.height))
        if width < image.width || height < image.height {
            image = try image.extracted(
                left: (image.width - width) / 2, top: (image.height - height) / 2, width: width,
                height: height)
        }
        guard width < size.width || height < size.height else { return image }
        let canvas = try image.withAlpha()
        return try canvas.embedded(
            left: (size.width - width) / 2, top: (size.height - height) / 2, width: size.width,
            height: size.height, background: [Double](repeating: 0, count: canvas.header.bands))
    }
}
