import CommandLineInterface
import ImageModel
import Imagebus
import Linux
import StackAccess

/// `imagebus get --show`: an image or an animation in the terminal.
enum ShowCommand {
    static func run(_ options: GetOptions) -> Int32 {
        let report = GetReport(options: options)
        do throws(ImageError) {
            guard let screen = TerminalScreen.current else { throw noTerminal }
            try GetCommand.check(options.request.url)
            let interruption = try Interruption.started()
            let stack = try OpenStack(options.stack, interruption)
            defer { stack.end(interruption) }
            if !stack.isOwn { GetCommand.warn(options.stack) }
            let client = try stack.route.client(
                delivery: options.delivery,
                connectMilliseconds: stack.connectMilliseconds(
                    options.request.timeoutMilliseconds))
            defer { client.end() }
            let frames = frames(on: screen, options.graphics)
            let image = try open(options.request, frames, client, interruption)
            return try play(AnimationPlayer(image), frames, interruption, cancel: client.close)
        } catch {
            return report.tell(error, token: nil, totalMilliseconds: 0)
        }
    }

    private static var noTerminal: ImageError {
        ImageError(
            .invalidRequest,
            "--show draws on a terminal, and standard output is none: write the image with -o FILE")
    }

    /// The terminal is asked what it can do, unless that is known; its cells have pixels of their
    /// own.
    private static func frames(
        on screen: TerminalScreen, _ graphics: TerminalGraphics?
    ) -> ShownFrames {
        guard graphics == nil || graphics == .sixel else {
            return ShownFrames(screen, graphics ?? .blocks)
        }
        let answer = TerminalAnswer.ask()
        return ShownFrames(screen.with(cell: answer?.cell), graphics ?? .of(answer))
    }

    /// Frames have the size that has room.
    private static func open(
        _ request: ImageRequest, _ frames: ShownFrames, _ client: ImagebusClient,
        _ interruption: Interruption
    ) throws(ImageError) -> AnimatedImage {
        var request = request
        request.steps.append(.resize(frames.room, .fit))
        request.output = frames.output
        let (wanted, form) = (request, frames.form)
        let completion = try Completion<AnimatedImage>.opened()
        completion.start { () throws(ImageError) in
            try await AnimatedImage(wanted, from: client, as: form)
        }
        return try completion.wait(interruption, cancel: client.close)
    }

    /// Until all loops were shown, Ctrl-C or a key; the exit status.
    private static func play(
        _ player: AnimationPlayer, _ frames: ShownFrames, _ interruption: Interruption,
        cancel: () -> Void
    ) throws(ImageError) -> Int32 {
        let keys = TerminalKeys()
        defer { withExtendedLifetime(keys) {} }
        let start = MonotonicClock.now()
        var shown: Int?
        player.play()
        while true {
            let now = Duration.nanoseconds(Int64(MonotonicClock.now() - start))
            let frame = try next(player, at: now, interruption, cancel)
            if frame.index != shown, try !frames.draw(frame) { return OutputError.unreadStatus }
            shown = frame.index
            guard player.playbackState == .playing, let left = player.untilNextFrame else {
                return 0
            }
            let milliseconds = Int((left / .milliseconds(1)).rounded(.up))
            let typed = try wait(
                for: keys == nil ? [] : [0], max(1, milliseconds), interruption)
            if interruption.count > 0 { return ErrorCode.cancelled.rule.exitStatus }
            if typed { return 0 }
        }
    }

    private static func next(
        _ player: AnimationPlayer, at time: Duration, _ interruption: Interruption,
        _ cancel: () -> Void
    ) throws(ImageError) -> AnimationFrame {
        let completion = try Completion<AnimationFrame>.opened()
        completion.start { () throws(ImageError) in try await player.frame(at: time) }
        return try completion.wait(interruption, cancel: cancel)
    }

    private static func wait(
        for numbers: [Int32], _ milliseconds: Int, _ interruption: Interruption
    ) throws(ImageError) -> Bool {
        do throws(Errno) {
            return try !interruption.wait(for: numbers, milliseconds: milliseconds).isEmpty
        } catch {
            throw ImageError(.internalError, "the wait for the next frame failed (\(error))")
        }
    }
}

/// Frames that are drawn at one place of the terminal, one over the other.
final class ShownFrames {
    private let screen: TerminalScreen
    private let graphics: TerminalGraphics
    private let number = UInt32(truncatingIfNeeded: Random.uint64()) | 1
    /// Lines of the last frame; 0 before the first one.
    private var rows = 0

    /// The cursor is not seen until this goes.
    init(_ screen: TerminalScreen, _ graphics: TerminalGraphics) {
        (self.screen, self.graphics) = (screen, graphics)
        Terminal.control(1, "\u{1B}[?25l")
    }

    deinit { Terminal.control(1, "\u{1B}[?25h") }

    /// As what frames are needed.
    var form: FrameForm { graphics == .blocks ? .pixels : .encoded }

    /// As what they are encoded.
    var output: OutputOptions {
        var output = OutputOptions(format: .png)
        if graphics == .sixel { output.colours = 256 }
        return output
    }

    /// Pixels that have room; the last line is the cursor's. Sixels come in bands of six.
    var room: PixelSize {
        let lines = screen.rows - 1
        let (width, height) = (screen.columns * screen.cellWidth, lines * screen.cellHeight)
        switch graphics {
        case .kitty: return PixelSize(width: width, height: height)
        case .sixel: return PixelSize(width: width, height: max(6, height / 6 * 6))
        case .blocks: return PixelSize(width: screen.columns, height: 2 * lines)
        }
    }

    /// Draws it over the one before; false where nobody reads any more. Throws where the frame
    /// cannot be read.
    func draw(_ frame: AnimationFrame) throws(ImageError) -> Bool {
        if let pixels = frame.pixels {
            let text = HalfBlocks.lines(pixels)
            let up = rows > 0 ? "\u{1B}[\(rows)A\r" : ""
            rows = HalfBlocks.rows(pixels)
            return Terminal.write(Array(up.utf8) + text, to: 1)
        }
        guard let response = frame.response, let bytes = response.bytes else { return true }
        let height = response.info?.size.height ?? room.height
        guard graphics == .sixel else {
            return draw(height, KittyImage.text(png: bytes.array, number: number))
        }
        let pixels = try bytes.withUnsafeBytes { (bytes) throws(ImageError) in
            try IndexedPixels(png: bytes)
        }
        // What is transparent would show the frame before.
        let clear = rows > 0 && SixelImage.hasHoles(pixels) ? Array("\u{1B}[J".utf8) : []
        // Terminals leave the cursor at several places below an image.
        return draw(
            height,
            clear + Array("\u{1B}7".utf8) + SixelImage.text(pixels) + Array("\u{1B}8".utf8))
    }

    /// Draws an image of so many rows of pixels, and goes to the line below.
    private func draw(_ height: Int, _ image: [UInt8]) -> Bool {
        // Lines are made before: what is drawn at the last one would be moved.
        let space = rows > 0 ? "" : String(repeating: "\n", count: lines(height))
        let up = rows > 0 ? rows : lines(height)
        rows = lines(height)
        return Terminal.write(
            Array("\(space)\u{1B}[\(up)A\r".utf8) + image + Array("\u{1B}[\(rows)B\r".utf8), to: 1)
    }

    private func lines(_ height: Int) -> Int {
        (height + screen.cellHeight - 1) / screen.cellHeight
    }
}

/// How images are drawn in a terminal.
enum TerminalGraphics: Hashable, CaseIterable {
    /// PNG in the protocol of kitty.
    case kitty
    /// Sixels of at most 256 colours.
    case sixel
    /// Characters of two pixels each.
    case blocks

    /// By their names on the command line; `nil`: what the terminal can do.
    static let names: [(name: String, value: TerminalGraphics?)] = [
        ("auto", nil), ("kitty", .kitty), ("sixel", .sixel), ("blocks", .blocks),
    ]

    /// What the environment says of the terminal; `nil` where the terminal has to be asked.
    static func known(_ environment: [String: String]) -> TerminalGraphics? {
        if KittyImage.isSpoken(environment) { return .kitty }
        let terminal = environment["TERM"] ?? ""
        return terminal.isEmpty || terminal == "dumb" ? .blocks : nil
    }

    /// What the terminal can do that gave this answer, or none.
    static func of(_ answer: TerminalAnswer?) -> TerminalGraphics {
        answer?.hasSixels == true ? .sixel : .blocks
    }
}

/// An image in the graphics protocol of the terminal kitty
/// (<https://sw.kovidgoyal.net/kitty/graphics-protocol/>): a PNG in pieces of Base64.
enum KittyImage {
    /// Bytes of Base64 in one piece at most.
    private static let pieceBytes = 4_096

    /// Whether the terminal says that it has the protocol.
    static func isSpoken(_ environment: [String: String]) -> Bool {
        let terminal = environment["TERM"] ?? ""
        return environment["KITTY_WINDOW_ID"] != nil || terminal.contains("kitty")
            || terminal.contains("ghostty")
    }

    /// Draws at the cursor, which stays. An image of the same number goes.
    static func text(png: [UInt8], number: UInt32) -> [UInt8] {
        let base64 = Array(Base64Text.text(png).utf8)
        var text: [UInt8] = []
        var start = 0
        repeat {
            let end = min(start + pieceBytes, base64.count)
            let more = end < base64.count ? 1 : 0
            let first = start == 0 ? "a=T,f=100,i=\(number),p=1,C=1," : ""
            text += Array("\u{1B}_G\(first)q=2,m=\(more);".utf8)
            text += base64[start..<end]
            text += Array("\u{1B}\\".utf8)
            start = end
        } while start < base64.count
        return text
    }
}

/// An image in sixels (DEC's VT330/VT340 Programmer Reference Manual, volume 2, chapter 14): bands
/// of six rows, in each of which every colour has a row of characters. What is more than half
/// transparent is left as it was.
struct SixelImage {
    private static let bandRows = 6
    private static let opaqueAlpha: UInt8 = 128
    /// So many characters that are the same are written as a number and one of them.
    private static let repeatMin = 4
    private static let empty: UInt8 = 0x3F

    private let pixels: IndexedPixels
    private var text: [UInt8]
    /// Six pixels of one column and one colour, by colour and column.
    private var masks: [UInt8]

    /// Draws at the cursor.
    static func text(_ pixels: IndexedPixels) -> [UInt8] {
        var image = SixelImage(pixels)
        for y in stride(from: 0, to: pixels.size.height, by: bandRows) { image.addBand(y) }
        return image.text + Array("\u{1B}\\".utf8)
    }

    /// Whether something of it is left as it was.
    static func hasHoles(_ pixels: IndexedPixels) -> Bool {
        let isSeen = pixels.palette.map { $0[3] >= opaqueAlpha }
        return pixels.indexes.contains { !isSeen[Int($0)] }
    }

    private init(_ pixels: IndexedPixels) {
        self.pixels = pixels
        let size = pixels.size
        // Square pixels, and those without a colour stay.
        text = Array("\u{1B}P0;1q\"1;1;\(size.width);\(size.height)".utf8)
        for (index, colour) in pixels.palette.enumerated() where colour[3] >= Self.opaqueAlpha {
            let parts = colour[..<3].map { "\((Int($0) * 100 + 127) / 255)" }
            text += Array("#\(index);2;\(parts.joined(separator: ";"))".utf8)
        }
        masks = [UInt8](repeating: 0, count: pixels.palette.count * size.width)
    }

    private mutating func addBand(_ y: Int) {
        let width = pixels.size.width
        var used = [Bool](repeating: false, count: pixels.palette.count)
        for row in 0..<min(Self.bandRows, pixels.size.height - y) {
            for x in 0..<width {
                let index = Int(pixels.indexes[(y + row) * width + x])
                masks[index * width + x] |= 1 << UInt8(row)
                used[index] = true
            }
        }
        var isFirst = true
        for index in used.indices where used[index] {
            if pixels.palette[index][3] >= Self.opaqueAlpha {
                if !isFirst { text.append(UInt8(ascii: "$")) }
                isFirst = false
                text += Array("#\(index)".utf8)
                addRow(masks[index * width..<(index + 1) * width])
            }
            for x in 0..<width { masks[index * width + x] = 0 }
        }
        text.append(UInt8(ascii: "-"))
    }

    /// Without what is empty behind the last one.
    private mutating func addRow(_ row: ArraySlice<UInt8>) {
        let end = (row.lastIndex { $0 != 0 } ?? row.startIndex - 1) + 1
        var start = row.startIndex
        while start < end {
            let mask = row[start]
            let next = row[start..<end].firstIndex { $0 != mask } ?? end
            let count = next - start
            if count >= Self.repeatMin {
                text += Array("!\(count)".utf8)
                text.append(Self.empty + mask)
            } else {
                for _ in 0..<count { text.append(Self.empty + mask) }
            }
            start = next
        }
    }
}

/// An image of characters: each is two pixels, one above the other, in true colour. What is more
/// than half transparent shows the terminal.
struct HalfBlocks {
    private static let upper = Array("▀".utf8)
    private static let lower = Array("▄".utf8)
    private static let opaqueAlpha: UInt8 = 128

    private let pixels: FramePixels
    private var text: [UInt8] = []
    private var foreground: Int?
    private var background: Int?

    /// Lines, each with its end.
    static func lines(_ pixels: FramePixels) -> [UInt8] {
        var blocks = HalfBlocks(pixels)
        for row in 0..<rows(pixels) { blocks.addLine(2 * row) }
        return blocks.text
    }

    /// Lines of the terminal that it takes.
    static func rows(_ pixels: FramePixels) -> Int { (pixels.size.height + 1) / 2 }

    private init(_ pixels: FramePixels) { self.pixels = pixels }

    private mutating func addLine(_ y: Int) {
        for x in 0..<pixels.size.width { add(colour(x, y), colour(x, y + 1)) }
        text += Array("\u{1B}[0m\u{1B}[K\r\n".utf8)
        (foreground, background) = (nil, nil)
    }

    private mutating func add(_ top: Int?, _ bottom: Int?) {
        let wanted = top == nil ? nil : bottom
        if wanted != background {
            text += Array((wanted.map { "\u{1B}[48;2;\(Self.numbers($0))m" } ?? "\u{1B}[49m").utf8)
            background = wanted
        }
        guard let drawn = top ?? bottom else { return text.append(UInt8(ascii: " ")) }
        if drawn != foreground {
            text += Array("\u{1B}[38;2;\(Self.numbers(drawn))m".utf8)
            foreground = drawn
        }
        text += top == nil ? Self.lower : Self.upper
    }

    private static func numbers(_ colour: Int) -> String {
        "\(colour >> 16);\(colour >> 8 & 255);\(colour & 255)"
    }

    /// `nil` for what is not seen.
    private func colour(_ x: Int, _ y: Int) -> Int? {
        guard y < pixels.size.height else { return nil }
        let start = 4 * (y * pixels.size.width + x)
        guard pixels.rgba[start + 3] >= Self.opaqueAlpha else { return nil }
        return Int(pixels.rgba[start]) << 16 | Int(pixels.rgba[start + 1]) << 8
            | Int(pixels.rgba[start + 2])
    }
}
