/// An animated file and its frames as decoded by another program: ImageMagick for GIF, apngdis for
/// APNG, libwebp's own composition (through Pillow) for WebP, avifdec for AVIF.
public struct AnimatedFile: Sendable {
    /// The file.
    public let bytes: [UInt8]
    /// Its size in pixels, and how often the animation is played; 0 means forever.
    public let (width, height, plays): (Int, Int, Int)
    /// The duration of each frame in microseconds, as stated in the file.
    public let stated: [Int]
    /// RGBA of each frame.
    public let frames: [[UInt8]]

    /// Creates one of the files of `animations.py`.
    public init(generated name: String) throws {
        let folder = TemporaryDirectory()
        let path = folder.file(name)
        try Self.script(["make", name, path])
        try self.init(at: path, in: folder)
    }

    /// Reads an existing file; `folder` is for intermediate files.
    public init(at path: String, in folder: TemporaryDirectory) throws {
        let raw = folder.file("frames")
        let numbers = try Self.script(["frames", path, raw]).split { $0 <= 0x20 }
            .compactMap { Int(String(decoding: $0, as: UTF8.self)) }
        guard numbers.count > 4, let bytes = FileBytes.read(path), let all = FileBytes.read(raw)
        else { throw StackFailure("another reader finds no frames in \(path)") }
        self.bytes = bytes
        (width, height, plays) = (numbers[0], numbers[1], numbers[3])
        stated = Array(numbers[4...])
        let count = 4 * width * height
        frames = (0..<numbers[2]).map { Array(all[$0 * count..<($0 + 1) * count]) }
    }

    /// Files of `hostile.py`: those named, or all of them.
    public static func hostile(
        _ names: [String]? = nil
    ) throws -> [(name: String, bytes: [UInt8])] {
        let folder = TemporaryDirectory()
        let script = RepositoryRoot.file("Tests/TestKit/Animations/hostile.py")
        let all = try Tool.run(["python3", script]).split { $0 <= 0x20 }
            .map { String(decoding: $0, as: UTF8.self) }
        return try (names ?? all).map { name in
            let path = folder.file("made")
            _ = try Tool.run(["python3", script, name, path])
            return (name, FileBytes.read(path) ?? [])
        }
    }

    @discardableResult
    private static func script(_ arguments: [String]) throws -> [UInt8] {
        let script = RepositoryRoot.file("Tests/TestKit/Animations/animations.py")
        return try Tool.run(["python3", script] + arguments)
    }

    /// The AVIF sequences of `animations.py`.
    public static let sequences = [
        "lossless.avif", "alpha.avif", "lossy.avif", "grey.avif", "deep.avif", "turned.avif",
        "cut-turned.avif",
    ]

    /// The files that `animations.py` creates.
    public static let names = [
        "kept.gif", "cleared.gif", "restored.gif", "mixed-interlaced.gif", "opaque-shared.gif",
        "bare.gif", "wide.gif", "mixed.apng", "half.apng", "half-over-clean.apng",
        "hidden-default.apng", "palette.apng", "mixed.webp", "half-replaced.webp",
        "half-over-clean.webp", "lossy.webp",
    ]
}

extension AnimatedFile {
    /// For each of the durations, in microseconds, the index of the frame of this file that is
    /// shown then. An encoder may merge identical frames. `nil` if the durations don't add up.
    public func frames(shownIn durations: [Int]) -> [Int]? {
        var shown: [Int] = []
        for (frame, whole) in stated.enumerated() {
            var sum = 0
            while sum < whole, shown.count < durations.count {
                sum += durations[shown.count]
                shown.append(frame)
            }
            guard sum == whole else { return nil }
        }
        return shown.count == durations.count ? shown : nil
    }
}
