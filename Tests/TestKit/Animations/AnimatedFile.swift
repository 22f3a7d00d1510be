/// A file with frames, and what another reader makes of it: ImageMagick of a GIF, apngdis of an
/// APNG, libwebp's own composition (in Pillow) of a WebP, avifdec of an AVIF.
public struct AnimatedFile: Sendable {
    /// The file.
    public let bytes: [UInt8]
    /// Its size, and how often all frames are played; 0: without end.
    public let (width, height, plays): (Int, Int, Int)
    /// Microseconds of each frame as the file says them.
    public let stated: [Int]
    /// RGBA of each frame.
    public let frames: [[UInt8]]

    /// One of the files of `animations.py`.
    public init(made name: String) throws {
        let folder = TemporaryDirectory()
        let path = folder.file(name)
        try Self.script(["make", name, path])
        try self.init(at: path, in: folder)
    }

    /// A file that is there; the folder takes what is made of it.
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

    /// Files of `hostile.py`: these, or all of them.
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

    /// AVIF sequences of `animations.py`.
    public static let sequences = [
        "lossless.avif", "alpha.avif", "lossy.avif", "grey.avif", "deep.avif", "turned.avif",
        "cut-turned.avif",
    ]

    /// What `animations.py` makes.
    public static let names = [
        "kept.gif", "cleared.gif", "restored.gif", "mixed-interlaced.gif", "opaque-shared.gif",
        "bare.gif", "wide.gif", "mixed.apng", "half.apng", "half-over-clean.apng",
        "hidden-default.apng", "palette.apng", "mixed.webp", "half-replaced.webp",
        "half-over-clean.webp", "lossy.webp",
    ]
}

extension AnimatedFile {
    /// For each of the durations, in microseconds, the frame of this file that is shown then: an
    /// encoder may join frames that are the same. `nil` where durations do not add up.
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
