import CommandLineInterface
import Imagebus
import Linux
import Model

/// `imagebus get --show`: displays an image or an animation in the terminal.
enum ShowCommand {
    static func run(_ options: GetOptions) -> Int32 {
        GetReport(options).run {
            guard let screen = TerminalScreen.current else {
                throw ImageError(
                    .invalidRequest,
                    "--show requires a terminal as standard output: write the image with -o FILE")
            }
            try GetCommand.check(options.request.url)
            let interruption = try Interruption()
            let stack = try OpenStack(options.stack, interruption, for: "get")
            defer { stack.end(interruption) }
            let client = try stack.client(
                delivery: options.delivery, timeout: options.request.timeoutMilliseconds)
            defer { client.end() }
            let frames = frames(on: screen, options.graphics)
            let image = try open(options.request, frames, client, interruption)
            return try play(AnimationPlayer(image), frames, interruption, cancel: client.close)
        }
    }

    /// Queries the terminal's capabilities and cell size unless they are already known.
    private static func frames(
        on screen: TerminalScreen, _ graphics: TerminalGraphics?
    ) -> ShownFrames {
        guard graphics == nil || graphics == .sixel else {
            return ShownFrames(screen, graphics ?? .blocks)
        }
        let answer = TerminalAnswer.ask()
        return ShownFrames(screen.with(cell: answer?.cell), graphics ?? .of(answer))
    }

    /// Opens the animation with frames that fit on the screen.
    private static func open(
        _ request: ImageRequest, _ frames: ShownFrames, _ client: ImagebusClient,
        _ interruption: Interruption
    ) throws(ImageError) -> AnimatedImage {
        var request = request
        request.steps.append(.resize(frames.room, .fit))
        request.output = OutputOptions(format: .png)
        let (wanted, form) = (request, frames.form)
        return try Completion.result(interruption, cancel: client.close) {
            () throws(ImageError) in try await AnimatedImage(wanted, from: client, as: form)
        }
    }

    /// Plays until all loops have been shown, Ctrl-C or a key press; returns the exit status.
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
            let frame = try Completion<AnimationFrame>.result(interruption, cancel: cancel) {
                () throws(ImageError) in try await player.frame(at: now)
            }
            if frame.index != shown, !frames.draw(frame) { return OutputError.unreadStatus }
            shown = frame.index
            guard player.playbackState == .playing, let left = player.untilNextFrame else {
                return 0
            }
            let milliseconds = max(1, Int((left / .milliseconds(1)).rounded(.up)))
            let typed = try ImageError.wrap("waiting for the next frame failed") {
                () throws(Errno) in
                try interruption.wait(for: keys == nil ? [] : [0], milliseconds: milliseconds)
            }
            if interruption.count > 0 { return ErrorCode.cancelled.rule.exitStatus }
            if !typed.isEmpty { return 0 }
        }
    }
}

/// Draws frames at one position of the terminal, each over the previous one.
final class ShownFrames {
    private let screen: TerminalScreen
    private let graphics: TerminalGraphics
    private let number = UInt32(truncatingIfNeeded: Random.uint64()) | 1
    /// The number of lines of the previous frame; 0 before the first one.
    private var rows = 0

    /// Hides the cursor until this object is released.
    init(_ screen: TerminalScreen, _ graphics: TerminalGraphics) {
        (self.screen, self.graphics) = (screen, graphics)
        Terminal.control(1, "\u{1B}[?25l")
    }

    deinit { Terminal.control(1, "\u{1B}[?25h") }

    /// The form in which frames are required: kitty's graphics are PNG files.
    var form: FrameForm { graphics == .kitty ? .encoded : .pixels }

    /// The available size in pixels; the last line is reserved for the cursor. Sixels are drawn in
    /// bands of six rows.
    var room: PixelSize {
        let lines = screen.rows - 1
        let (width, height) = (screen.columns * screen.cellWidth, lines * screen.cellHeight)
        switch graphics {
        case .kitty: return PixelSize(width: width, height: height)
        case .sixel: return PixelSize(width: width, height: max(6, height / 6 * 6))
        case .blocks: return PixelSize(width: screen.columns, height: 2 * lines)
        }
    }

    /// Draws a frame over the previous one. Returns false if the output is closed.
    func draw(_ frame: AnimationFrame) -> Bool {
        guard let pixels = frame.pixels else {
            guard let response = frame.response, let bytes = response.bytes else { return true }
            return draw(
                response.info?.size.height ?? room.height,
                KittyImage.text(png: bytes.array, number: number))
        }
        guard graphics == .sixel else {
            let text = HalfBlocks.lines(pixels)
            let up = rows > 0 ? "\u{1B}[\(rows)A\r" : ""
            rows = HalfBlocks.rows(pixels)
            return Terminal.write(Array(up.utf8) + text, to: 1)
        }
        let indexed = IndexedPixels(pixels)
        // Transparent pixels would show the previous frame.
        let clear = rows > 0 && SixelImage.hasHoles(indexed) ? Array("\u{1B}[J".utf8) : []
        // Terminals differ in where they leave the cursor after an image.
        return draw(
            pixels.size.height,
            clear + Array("\u{1B}7".utf8) + SixelImage.text(indexed) + Array("\u{1B}8".utf8))
    }

    /// Draws an image of a height in pixels and moves the cursor to the line below.
    private func draw(_ height: Int, _ image: [UInt8]) -> Bool {
        // Adds lines first, because drawing on the last line would scroll the image.
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
    /// PNG in the kitty graphics protocol.
    case kitty
    /// Sixel graphics with up to 256 colors.
    case sixel
    /// Characters that show two pixels each.
    case blocks

    /// The names on the command line; `nil` selects what the terminal supports.
    static let names: [(name: String, value: TerminalGraphics?)] = [
        ("auto", nil), ("kitty", .kitty), ("sixel", .sixel), ("blocks", .blocks),
    ]

    /// Determines the graphics from the environment; `nil` if the terminal has to be queried.
    static func known(_ environment: [String: String]) -> TerminalGraphics? {
        let terminal = environment["TERM"] ?? ""
        let isKitty = terminal.contains("kitty") || terminal.contains("ghostty")
        if isKitty || environment["KITTY_WINDOW_ID"] != nil { return .kitty }
        return terminal.isEmpty || terminal == "dumb" ? .blocks : nil
    }

    /// Determines the graphics from the terminal's reply, or its absence.
    static func of(_ answer: TerminalAnswer?) -> TerminalGraphics {
        answer?.hasSixels == true ? .sixel : .blocks
    }
}

/// An image in the kitty graphics protocol (<https://sw.kovidgoyal.net/kitty/graphics-protocol/>):
/// a PNG in chunks of Base64.
enum KittyImage {
    /// The maximum length of a chunk of Base64.
    private static let chunkBytes = 4_096

    /// Returns the sequence that draws an image at the cursor without moving it, replacing an image
    /// with the same number.
    static func text(png: [UInt8], number: UInt32) -> [UInt8] {
        let base64 = Array(Base64Text.text(png).utf8)
        var text: [UInt8] = []
        var start = 0
        repeat {
            let end = min(start + chunkBytes, base64.count)
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

/// A sixel image (DEC's VT330/VT340 Programmer Reference Manual, volume 2, chapter 14): bands of
/// six rows, with a row of characters per color. Pixels that are more than half transparent are not
/// drawn.
struct SixelImage {
    private static let bandRows = 6
    private static let opaqueAlpha: UInt8 = 128
    /// The minimum length of a run of equal characters that is run-length encoded.
    private static let repeatMin = 4
    private static let empty: UInt8 = 0x3F

    private let pixels: IndexedPixels
    private var text: [UInt8]
    /// The six pixels of a column with the same color, by color and column.
    private var masks: [UInt8]

    /// Returns the sequence that draws an image at the cursor.
    static func text(_ pixels: IndexedPixels) -> [UInt8] {
        var image = SixelImage(pixels)
        for y in stride(from: 0, to: pixels.size.height, by: bandRows) { image.addBand(y) }
        return image.text + Array("\u{1B}\\".utf8)
    }

    /// Whether some pixels are not drawn.
    static func hasHoles(_ pixels: IndexedPixels) -> Bool {
        let isSeen = pixels.palette.map { $0[3] >= opaqueAlpha }
        return pixels.indexes.contains { !isSeen[Int($0)] }
    }

    private init(_ pixels: IndexedPixels) {
        self.pixels = pixels
        let size = pixels.size
        // Square pixels; pixels without a color remain unchanged.
        text = Array("\u{1B}P0;1q\"1;1;\(size.width);\(size.height)".utf8)
        for (index, color) in pixels.palette.enumerated() where color[3] >= Self.opaqueAlpha {
            let parts = color[..<3].map { "\((Int($0) * 100 + 127) / 255)" }
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

    /// Appends a row without trailing empty columns.
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

/// An image of characters: each shows two pixels, one above the other, in true color. Pixels that
/// are more than half transparent show the terminal's background.
struct HalfBlocks {
    private static let upper = Array("▀".utf8)
    private static let lower = Array("▄".utf8)
    private static let opaqueAlpha: UInt8 = 128

    private let pixels: FramePixels
    private var text: [UInt8] = []
    private var foreground: Int?
    private var background: Int?

    /// Returns the lines, each with a line terminator.
    static func lines(_ pixels: FramePixels) -> [UInt8] {
        var blocks = HalfBlocks(pixels)
        for row in 0..<rows(pixels) { blocks.addLine(2 * row) }
        return blocks.text
    }

    /// Returns the number of terminal lines needed.
    static func rows(_ pixels: FramePixels) -> Int { (pixels.size.height + 1) / 2 }

    private init(_ pixels: FramePixels) { self.pixels = pixels }

    private mutating func addLine(_ y: Int) {
        for x in 0..<pixels.size.width { add(color(x, y), color(x, y + 1)) }
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

    private static func numbers(_ color: Int) -> String {
        "\(color >> 16);\(color >> 8 & 255);\(color & 255)"
    }

    /// Returns the color of a pixel; `nil` if it is transparent.
    private func color(_ x: Int, _ y: Int) -> Int? {
        guard y < pixels.size.height else { return nil }
        let start = 4 * (y * pixels.size.width + x)
        guard pixels.rgba[start + 3] >= Self.opaqueAlpha else { return nil }
        return Int(pixels.rgba[start]) << 16 | Int(pixels.rgba[start + 1]) << 8
            | Int(pixels.rgba[start + 2])
    }
}
