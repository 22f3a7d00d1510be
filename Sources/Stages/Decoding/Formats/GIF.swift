import Animation
import ImageModel
import StageContract
import Vips

/// GIF, the first frame of it.
struct GIFDecoder: LoaderDecoder {
    let format = ImageFormat.gif
    let loader = VipsLoader.gif

    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        try VipsImage.gif(bytes).onScreen(of: bytes)
    }

    func ofBeginnings(
        _ cancellation: CancellationFlag, _ missing: MissingPixels
    ) -> any FormatDecoder {
        PartialGIF(missing: missing)
    }
}

extension VipsImage {
    /// The first frame of that GIF at its place on the screen of the file, which is transparent
    /// where the frame does not lie. libnsgif leaves black there, and takes a screen of more than
    /// 2,048 columns or rows for a mistake: it makes one as large as the frames.
    func onScreen(of file: UnsafeRawBufferPointer) throws(VipsError) -> VipsImage {
        let bytes = file.bindMemory(to: UInt8.self).span
        guard let map = AnimationMap(bytes, framesMax: 1) else { return self }
        let (made, screen) = (header, map.canvas)
        // A frame that sticks out makes the screen larger.
        let columns = max(made.width, screen.width)
        let rows = max(made.height, screen.height)
        let all = PixelRect(x: 0, y: 0, size: PixelSize(width: made.width, height: made.height))
        let area = map.frames.first?.area ?? all
        guard area.size.width < columns || area.size.height < rows else { return self }
        let right = min(area.x + area.size.width, made.width)
        let bottom = min(area.y + area.size.height, made.height)
        guard area.x < right, area.y < bottom else { return self }
        let frame = try extracted(
            left: area.x, top: area.y, width: right - area.x, height: bottom - area.y)
        let seen = made.hasAlpha ? frame : try frame.withAlpha()
        return try seen.embedded(
            left: area.x, top: area.y, width: columns, height: rows,
            background: [Double](repeating: 0, count: seen.header.bands))
    }
}
