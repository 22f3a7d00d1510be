import AVIF
import Zimg

/// What the planes of an AVIF mean, where that is sRGB and can be made planes of JFIF.
struct AVIFColours {
    private let matrix: ZimgFormat.Matrix

    /// Nil for alpha, grey, more than 8 bits, and for colours that planes of JFIF do not have. What
    /// the file does not say is BT.601 and sRGB.
    init?(_ picture: AVIFPicture) {
        guard picture.depth == 8, !picture.hasAlpha, picture.chroma != .grey,
            picture.hasProfile || Self.isSRGB(picture)
        else { return nil }
        switch picture.matrix {
        case 2, 5, 6: matrix = .bt601
        case 1: matrix = .bt709
        default: return nil
        }
    }

    /// BT.709 has the primaries of sRGB, and what BT.709 and BT.601 call their transfer is shown
    /// as that of sRGB by everyone (ITU-T H.273, tables 2 and 3).
    private static func isSRGB(_ picture: AVIFPicture) -> Bool {
        [1, 2].contains(picture.primaries) && [1, 2, 6, 13].contains(picture.transfer)
    }

    /// To BT.601 in full range, colours in the middle of their pixels; nil where it is that.
    func conversion(of picture: AVIFPicture) -> ZimgConversion? {
        let (across, down) = (picture.chroma.horizontalLog2, picture.chroma.verticalLog2)
        let target = ZimgFormat(
            width: (picture.width + across) & ~across, height: (picture.height + down) & ~down,
            planes: .yCbCr(ZimgSubsampling(horizontalLog2: across, verticalLog2: down)))
        var source = target
        source.matrix = matrix
        source.range = picture.isLimited ? .limited : .full
        source.planes = .yCbCr(
            ZimgSubsampling(
                horizontalLog2: across, verticalLog2: down, siting: siting(of: picture)))
        return source == target
            ? nil : ZimgConversion(from: source, to: target, filter: .bilinear)
    }

    /// What says nothing is in the middle for everyone who displays it.
    private func siting(of picture: AVIFPicture) -> ZimgSubsampling.Siting {
        guard picture.chroma != .yuv444 else { return .centre }
        return switch picture.siting {
        case .unknown: .centre
        case .left: .left
        case .topLeft: .topLeft
        }
    }
}
