/// What proxies make of imgproxy's paths, and how it is undone.
enum ImgproxyPath {
    /// Colons that were encoded in options stand there again, and so does the second slash of a
    /// scheme in a plain URL; of `file:` and `local:`, which have no host, the third one too.
    static func repaired(_ path: [UInt8]) -> [UInt8] {
        guard let start = plainURL(of: path) else { return withColons(path[...]) }
        return withColons(path[..<start]) + withSlashes(path[start...])
    }

    /// Where the plain URL begins.
    private static func plainURL(of path: [UInt8]) -> Int? {
        let mark = Array("/plain/".utf8)
        if path.starts(with: mark.dropFirst()) { return mark.count - 1 }
        return path.firstRange(of: mark)?.upperBound
    }

    private static func withColons(_ options: ArraySlice<UInt8>) -> [UInt8] {
        var repaired: [UInt8] = []
        repaired.reserveCapacity(options.count)
        var rest = options
        while let byte = rest.first {
            let isColon = colons.contains { rest.starts(with: $0) }
            repaired.append(isColon ? UInt8(ascii: ":") : byte)
            rest = rest.dropFirst(isColon ? 3 : 1)
        }
        return repaired
    }

    private static let colons = [Array("%3A".utf8), Array("%3a".utf8)]

    private static func withSlashes(_ url: ArraySlice<UInt8>) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        guard let colon = url.firstIndex(of: UInt8(ascii: ":")), colon > url.startIndex,
            !url[..<colon].contains(slash), url.endIndex - colon > 2, url[colon + 1] == slash,
            url[colon + 2] != slash
        else { return Array(url) }
        let scheme = url[..<colon]
        let isOfFiles = withoutHost.contains { scheme.elementsEqual($0) }
        return url[...colon] + Array(repeating: slash, count: isOfFiles ? 2 : 1)
            + url[(colon + 1)...]
    }

    private static let withoutHost = [Array("file".utf8), Array("local".utf8)]
}
