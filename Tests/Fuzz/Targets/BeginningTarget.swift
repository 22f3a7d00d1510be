import Decoding
import Model
import Synchronization

/// Partial files, decoded by the codecs (SEMANTICS §11.33). The first byte of an input selects the
/// request.
enum BeginningTarget {
    /// libvips is initialized once per process.
    private static let stage = try? DecodeStage()
    /// Small enough that an input is processed quickly.
    static let limits = ImageLimits(
        sideMax: 512, pixelsMax: 65_536, pixelBytesMax: 1 << 20, pagesMax: 50,
        metadataBytesMax: 4_096)

    static func run(_ bytes: [UInt8]) throws(BrokenInvariant) {
        var choices = ByteReader(Array(bytes.prefix(1)))
        let kind = choices.choice(4)
        let source = BlockReference(
            segment: 1, offset: 0, length: UInt64(max(1, bytes.count - 1)), block: BlockID(1))
        let work = DecodeWork(
            source: source, frame: kind == 2 ? 0 : kind == 3 ? 2 : nil,
            need: kind == 1 ? .header : .full, limits: limits, isPartial: true)
        try decode(Array(bytes.dropFirst()), work)
    }

    /// Decodes a file twice, into blocks filled with different bytes.
    static func decode(_ file: [UInt8], _ work: DecodeWork) throws(BrokenInvariant) {
        guard let stage else { throw BrokenInvariant(what: "the decoders start") }
        let first = try shown(of: file, work, by: stage, over: 0x55)
        let second = try shown(of: file, work, by: stage, over: 0xAA)
        try expect(first == second, "the same bytes show the same, and no memory of before")
    }

    /// The result of a decode.
    private struct Shown: Equatable {
        var info: ImageInfo?
        var pixels: [[UInt8]] = []
        var error: ErrorCode?
    }

    private static func shown(
        of file: [UInt8], _ work: DecodeWork, by stage: DecodeStage, over poison: UInt8
    ) throws(BrokenInvariant) -> Shown {
        let space = PoisonedSpace(poison)
        let ended: Result<DecodedImage, ImageError> = file.withUnsafeBytes { input in
            do throws(ImageError) {
                return .success(
                    try stage.perform(
                        work, input: input, output: space, cancellation: CancellationFlag()))
            } catch {
                return .failure(error)
            }
        }
        switch ended {
        case .success(let image):
            try check(image, work, space)
            return Shown(
                info: image.info, pixels: image.frames.map { space.bytes($0.reference) })
        case .failure(let error):
            try expect(space.outstanding == 0, "an error leaves nothing reserved")
            try expect(
                [.badImageData, .unsupportedFormat, .limitExceeded].contains(error.code),
                "a beginning is shown, or no image, or over a limit, and not \(error)")
            return Shown(error: error.code)
        }
    }

    private static func check(
        _ image: DecodedImage, _ work: DecodeWork, _ space: PoisonedSpace
    ) throws(BrokenInvariant) {
        try expect(image.info.size.isPositive, "an image has pixels")
        try expect(image.info.pages >= 1, "an image has a page")
        try expect(
            image.frames.count <= (work.need == .header ? 0 : 1), "one frame is shown at most")
        try expect(space.outstanding == image.frames.count, "each block is that of a frame")
        for frame in image.frames {
            try expect(
                frame.layout.byteCount == space.bytes(frame.reference).count,
                "a block is as its layout says")
            try expect(
                frame.layout.pixelByteCount ?? .max <= 8 * limits.pixelsMax,
                "no limit of pixels is passed")
        }
    }
}

/// Heap blocks that are filled with a fixed byte before they are written.
private final class PoisonedSpace: OutputSpace {
    private struct State: ~Copyable {
        var next: UInt64 = 1
        var blocks: [BlockID: OutputBlock] = [:]
    }

    private let poison: UInt8
    private let state = Mutex(State())

    init(_ poison: UInt8) { self.poison = poison }

    deinit {
        state.withLock { state in
            for block in state.blocks.values { block.bytes.deallocate() }
        }
    }

    /// Blocks that were not released.
    var outstanding: Int { state.withLock { $0.blocks.count } }

    /// The bytes of a reference.
    func bytes(_ reference: BlockReference) -> [UInt8] {
        state.withLock { state in
            state.blocks[reference.block].map { Array($0.bytes.prefix(Int(reference.length))) }
                ?? []
        }
    }

    func reserve(_ bytes: Int) throws(ImageError) -> OutputBlock {
        guard bytes <= 8 << 20 else { throw ImageError(.arenaFull, "no space") }
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes, alignment: 64)
        memory.initializeMemory(as: UInt8.self, repeating: poison)
        let id = state.withLock { state in
            defer { state.next += 1 }
            return BlockID(state.next)
        }
        let block = OutputBlock(id: id, arena: .stage, segment: 1, offset: 0, bytes: memory)
        state.withLock { $0.blocks[id] = block }
        return block
    }

    func resize(_ block: OutputBlock, to bytes: Int, keeping: Int) throws(ImageError)
        -> OutputBlock
    {
        let other = try reserve(bytes)
        other.bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: block.bytes[..<keeping]))
        discard(block)
        return other
    }

    func discard(_ block: OutputBlock) {
        state.withLock { state in
            if state.blocks.removeValue(forKey: block.id) != nil { block.bytes.deallocate() }
        }
    }
}
