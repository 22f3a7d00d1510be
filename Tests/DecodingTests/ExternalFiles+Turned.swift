/// Files made by Pillow 13.0 with pillow-heif 1.8 from the same pixels and an EXIF orientation:
/// these encoders write the orientation as item properties, the first one as EXIF as well.
extension ExternalFiles {
    /// Orientation 6: `irot`, and EXIF.
    static let heicTurnedBySix = bytes(
        """
        AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAchtZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAA
        AAAAAAAAAAAAADRpbG9jAAAAAERAAAIAAQAAAAAB7AABAAAAAAAAAUwAAgAAAAADOAABAAAAAAAAACQAAAA4aWlu
        ZgAAAAAAAgAAABVpbmZlAgAAAAABAABodmMxAAAAABVpbmZlAgAAAQACAABFeGlmAAAAAA5waXRtAAAAAAABAAAB
        B2lwcnAAAADmaXBjbwAAAHZodmNDAQNwAAAAkAAAAAAAHvAA/P34+AAADwNgAAEAGEABDAH//wNwAAADAJAAAAMA
        AAMAHroCQGEAAQAqQgEBA3AAAAMAkAAAAwAAAwAeoCCBBZbq5Ka5uAhoMCAAAAMDIAAAAwAhYgABAAZEAcFzwIkA
        AAATY29scm5jbHgAAQANAAaAAAAAFGlzcGUAAAAAAAAAQAAAAEAAAAAoY2xhcAAAADAAAAABAAAAIAAAAAH////w
        AAAAAv///+AAAAACAAAAEHBpeGkAAAAAAwgICAAAAAlpcm90AwAAABlpcG1hAAAAAAAAAAEAAQaBAgMFhIYAAAAa
        aXJlZgAAAAAAAAAOY2RzYwACAAEAAQAAAXhtZGF0AAABSCgBrwW4VmeUV/Ar///9FV9l+zUrofgep/jCf/hD//VY
        og2m9FELEVWrMe47CLxAFakgoz42tp6C3+AFwOyrXIaIgnbsO/IJLx+SDH/+cbOYdcPs3/dCiYOTlkDZOKxZ+kNr
        W03TUtSSjLm3/832HXKnin/7+wK+ADcaPPaHMD83jOs7aZKVJu0oAnKaxS7eu7TWLvMf28b6sI37CafhXx/yG4A3
        42A/Lb5fGVD902X6Kyqk8R1rRT4IsdEpY6bZ8yWh+iuJ2Y8j3DO5BNyvoTufYZpbWMyQ9msBVl4aRGvwQ7AAXlu7
        prAQtA5AcNFM9VdQcGfghVb54v7efnfsPDoJwAPeJldaIETjE+NgruUTFv4R4udLV0Q9vsnKU71qxuf3nzcDHtyt
        UtCshUDgp1BOEBPRR/gkev0PIHNetdTUuEkzPSllLOAAAAAGRXhpZgAATU0AKgAAAAgAAQESAAMAAAABAAYAAAAA
        AAA=
        """)

    /// Orientation 5: `irot` and `imir`.
    static let avifTurnedByFive = bytes(
        """
        AAAAIGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZk1BMUIAAAD/bWV0YQAAAAAAAAAhaGRscgAAAAAAAAAAcGljdAAA
        AAAAAAAAAAAAAAAAAAAOcGl0bQAAAAAAAQAAAB5pbG9jAAAAAEQAAAEAAQAAAAEAAAEnAAAAXgAAAChpaW5mAAAA
        AAABAAAAGmluZmUCAAAAAAEAAGF2MDFDb2xvcgAAAAB+aXBycAAAAF1pcGNvAAAAFGlzcGUAAAAAAAAAMAAAACAA
        AAAQcGl4aQAAAAADCAgIAAAADGF2MUOBAAwAAAAAE2NvbHJuY2x4AAEADQAGgAAAAAlpcm90AQAAAAlpbWlyAAAA
        ABlpcG1hAAAAAAAAAAEAAQYBAoMEhYYAAABmbWRhdBIACgkYFS/7RAQ0GhAyT0TB7e2aQEEEF4QAAALwmS/MPzrZ
        NG3f58MjjcuaV41cjwhb85lKqa6oW4Acx8tWi2x6L2Vgv2FyZYQdmt18jyk323onWNejoPnRuWfypEA=
        """)

    /// Decodes Base64 (RFC 4648 §4).
    static func bytes(_ text: String) -> [UInt8] {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var (bytes, bits, count) = ([UInt8](), 0, 0)
        for letter in text.utf8 {
            guard let value = letters.firstIndex(of: letter) else { continue }
            (bits, count) = (bits << 6 | value, count + 6)
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> count))
        }
        return bytes
    }
}
