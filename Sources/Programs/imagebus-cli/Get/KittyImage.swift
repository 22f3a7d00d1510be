import ImageModel

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
