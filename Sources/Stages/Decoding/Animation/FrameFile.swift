import Animation
import Deflate
import ImageModel

/// Still images made of the parts of an animated file: one frame's area each, which any decoder of
/// the format reads. So frames are decoded by the libraries that decode still images.
struct FrameFile {
    private let file: UnsafeRawBufferPointer
    private let map: AnimationMap

    /// - Parameter file: the bytes of which the map was made; must not change meanwhile.
    init(_ file: UnsafeRawBufferPointer, _ map: AnimationMap) {
        (self.file, self.map) = (file, map)
    }

    /// The file of one frame.
    func bytes(of frame: FrameRecord) -> [UInt8] {
        switch map.format {
        case .gif: gif(frame)
        case .png: png(frame)
        default: webP(frame)
        }
    }

    /// Header, screen as large as the frame, global colours, and the frame in its corner.
    private func gif(_ frame: FrameRecord) -> [UInt8] {
        var bytes = Array("GIF89a".utf8)
        let size = little(frame.area.size.width, 2) + little(frame.area.size.height, 2)
        bytes += size + [file[10], 0, 0]
        for part in map.shared { bytes += file[part] }
        for part in frame.parts.dropLast() { bytes += file[part] }
        guard let image = frame.parts.last else { return bytes }
        bytes += [0x2C, 0, 0, 0, 0] + size + file[image.dropFirst(9)] + [0x3B]
        return bytes
    }

    private func png(_ frame: FrameRecord) -> [UInt8] {
        var bytes: [UInt8] = Array(file[..<8])
        let size = big(frame.area.size.width) + big(frame.area.size.height)
        Self.append("IHDR", size + file[24..<29], to: &bytes)
        for part in map.shared { bytes += file[part] }
        for part in frame.parts { Self.append("IDAT", Array(file[part]), to: &bytes) }
        Self.append("IEND", [], to: &bytes)
        return bytes
    }

    private static func append(_ kind: String, _ body: [UInt8], to bytes: inout [UInt8]) {
        let content = Array(kind.utf8) + body
        let sum = content.withUnsafeBytes { CRC32.of($0) }
        bytes += big(body.count) + content + big(Int(sum))
    }

    /// In the extended form, which takes alpha of its own beside an image with loss.
    private func webP(_ frame: FrameRecord) -> [UInt8] {
        let (width, height) = (frame.area.size.width - 1, frame.area.size.height - 1)
        let flags: UInt8 = (frame.mayBeTransparent ? 0x10 : 0) | (map.shared.isEmpty ? 0 : 0x20)
        var body = Array("WEBPVP8X".utf8) + little(10, 4) + [flags, 0, 0, 0]
        body += little(width, 3) + little(height, 3)
        for part in map.shared + frame.parts {
            body += file[part]
            if part.count % 2 == 1 { body.append(0) }
        }
        return Array("RIFF".utf8) + little(body.count, 4) + body
    }
}

private func little(_ number: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
}

private func big(_ number: Int) -> [UInt8] { little(number, 4).reversed() }
