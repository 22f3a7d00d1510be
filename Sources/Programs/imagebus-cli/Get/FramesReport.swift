import CommandLineInterface
import ImageModel
import Imagebus
import Observability
import Reporting

/// What `get --frames` says at its end, to people or as JSON (SEMANTICS §15.3).
struct FramesReport: Encodable {
    let status = GetAnswer.Status.ok
    /// Frames; 1 of a still image.
    let count: Int
    /// Microseconds of each; 0 of a still image.
    let durations: [Int]
    /// How often all are played; 0: without end.
    let loops: Int
    let format: String?
    let width: Int
    let height: Int
    /// Of all files.
    let bytes: Int
    /// In order of the frames.
    let files: [String]
    private let milliseconds: Double
    private let directory: String

    private enum CodingKeys: String, CodingKey {
        case status, count, durations, loops, format, width, height, bytes, files
    }

    init(_ end: FramesCommand.End, in directory: String, milliseconds: Double) {
        count = end.image.count
        durations = end.image.durations.map { Int($0 / .microseconds(1)) }
        loops = end.image.plays
        format = end.format?.name
        (width, height) = (end.size.width, end.size.height)
        (bytes, files) = (end.bytes, end.files)
        (self.milliseconds, self.directory) = (milliseconds, directory)
    }

    /// The exit status.
    func tell(_ options: GetOptions) -> Int32 {
        guard options.printsJSON else { return Terminal.finish("get", summary) }
        // Whole numbers and texts are always JSON.
        return Terminal.finish("get", (try? JSONText.text(self)) ?? "")
    }

    private var summary: String {
        let size = PixelSize(width: width, height: height)
        let times = durations.reduce(0, +) / 1_000
        let shown = loops == 0 ? "without end" : loops == 1 ? "once" : "\(loops) times"
        let played = count == 1 ? ["a still image"] : ["\(count) frames of \(times) ms, \(shown)"]
        let parts =
            played + [
                "\(format ?? "") \(size)", ByteText.text(UInt64(bytes)),
                "\(Int(milliseconds.rounded())) ms",
            ]
        return "\(PlainText.line(directory)): \(parts.joined(separator: ", "))\n"
    }
}
