/// Two 16 × 12 files from the QOI reference encoder that use every feature of the format.
public enum QOIFile {
    /// The file.
    public static func bytes(hasAlpha: Bool) throws -> [UInt8] {
        try Tool.run(["base64", "--decode"], input: Array((hasAlpha ? rgba : rgb).utf8))
    }

    /// The samples that every decoder must produce, with alpha: a run, small differences, repeated
    /// colors and, if the file has it, alpha.
    public static func samples(hasAlpha: Bool) -> [UInt8] {
        (0..<12).flatMap { y in
            (0..<16).flatMap { x in
                let pixel = pixel(x, y, hasAlpha: hasAlpha)
                return pixel.map { UInt8(truncatingIfNeeded: $0) }
            }
        }
    }

    private static func pixel(_ x: Int, _ y: Int, hasAlpha: Bool) -> [Int] {
        switch (x, y) {
        case (_, 9): [60 + x * 9 % 20, 60 + x * 7 % 20, 60 + x * 5 % 20, 255]
        case (_, 10): [100 + x / 2, 110 + x / 2, 90 + x / 3, 255]
        case (_, 11): x % 2 == 1 ? [10, 20, 30, 255] : [200, 5, x, 255]
        case (..<5, ..<3): [10, 20, 30, 255]
        default:
            [
                x * x * 3 + y * 7, x * 5 ^ y * 11, x < 8 ? 40 : x * y,
                y < 5 || !hasAlpha ? 255 : x * 13 + y,
            ]
        }
    }

    private static let rgb = """
        cW9pZgAAABAAAAAMAwD+ChQew/5LGSj+bB4o/pMjKP7AKAD+8y0A/iwyAP5rNwD+sDwA/vtBAP5MRgD+o0sA/goU
        HsP+UhIo/nMVKP6aKCj+xyMI/vomCf4zOQr+cjwL/rc3DP4CSg3+U00O/qpADwnD/lkPKP56CCj+oTUo/s4+EP4B
        OxL+OiQU/nkhFv6+Khj+CVca/lpQHP6xXR7+FSEoo4Wnof4wLij+RTUo/mA4KP6BPyj+qAIo/tUJGP4IDBv+QRMe
        /oAWIf7FHST+EGAn/mFnKv64ai3+HCwonev+KCYo/jcjKP5MOCj+ZzUo/ogyKP6vDyj+3AQg/g8BJP5IHij+hxss
        /swQMP4XbTT+aGo4/r9nPP4jNyj+JjIo/i89KP4+OCj+UyMo/m4uKP6PKSj+thQo/uMfKP4WGi3+TwUy/o4AN/7T
        Czz+HnZB/m9xRv7GfEv+KkIopWP+Nkgo/kVNKP5aVij+dVso/pZcKP69YSj+6mow/h1vNv5WcDz+lXVC/tp+SP4l
        A07+dgRU/s0JWv4xTSj+NEgo/j1HKP5MQij+YVko/nxUKP6dUyj+xG4o/vFlOP4kYD/+XX9G/px6Tf7hcVT+LAxb
        /n0LYv7UBmn+OFgopWP+RFIo/lNXKP5oTCj+g0Eo/qRGKP7Leyj++HBA/it1SP5kalD+o29Y/uhkYP4zGWj+hB5w
        /tsTeP48PDynpqem/kM9S/5MRDz+QUtB/ko+Rv4/RUv+SEw8/j0/Qaemp6aTpqem/kJORv5LQUv+ZG5aPX5rfhR/
        I35rfjp/CX5r/sgFAP4KFB7+yAUCCf7IBQQJ/sgFBgn+yAUICf7IBQoJ/sgFDAn+yAUOCQAAAAAAAAAB
        """
    private static let rgba = """
        cW9pZgAAABAAAAAMBAD+ChQew/5LGSj+bB4o/pMjKP7AKAD+8y0A/iwyAP5rNwD+sDwA/vtBAP5MRgD+o0sA/goU
        HsP+UhIo/nMVKP6aKCj+xyMI/vomCf4zOQr+cjwL/rc3DP4CSg3+U00O/qpADwnD/lkPKP56CCj+oTUo/s4+EP4B
        OxL+OiQU/nkhFv6+Khj+CVca/lpQHP6xXR7+FSEoo4Wnof4wLij+RTUo/mA4KP6BPyj+qAIo/tUJGP4IDBv+QRMe
        /oAWIf7FHST+EGAn/mFnKv64ai3+HCwonev+KCYo/jcjKP5MOCj+ZzUo/ogyKP6vDyj+3AQg/g8BJP5IHij+hxss
        /swQMP4XbTT+aGo4/r9nPP8jNygF/yYyKBL/Lz0oH/8+OCgs/1MjKDn/bi4oRv+PKShT/7YUKGD/4x8obf8WGi16
        /08FMof/jgA3lP/TCzyh/x52Qa7/b3FGu//GfEvI/ypCKAb/LUcoE/82SCgg/0VNKC3/WlYoOv91WyhH/5ZcKFT/
        vWEoYf/qajBu/x1vNnv/VnA8iP+VdUKV/9p+SKL/JQNOr/92BFS8/80JWsn/MU0oB/80SCgU/z1HKCH/TEIoLv9h
        WSg7/3xUKEj/nVMoVf/Ebihi//FlOG//JGA/fP9df0aJ/5x6TZb/4XFUo/8sDFuw/30LYr3/1AZpyv84WCgI/ztd
        KBX/RFIoIv9TVygv/2hMKDz/g0EoSf+kRihW/8t7KGP/+HBAcP8rdUh9/2RqUIr/o29Yl//oZGCk/zMZaLH/hB5w
        vv/bE3jL/zw8PP+npqem/kM9S/5MRDz+QUtB/ko+Rv4/RUv+SEw8/j0/Qaemp6aTpqem/kJORv5LQUv+ZG5aPX5r
        fhR/I35rfjp/CX5r/sgFAP4KFB7+yAUCCf7IBQQJ/sgFBgn+yAUICf7IBQoJ/sgFDAn+yAUOCQAAAAAAAAAB
        """
}
