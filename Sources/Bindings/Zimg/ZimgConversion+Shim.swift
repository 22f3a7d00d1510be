internal import CZimg

extension ZimgFormat {
    var shim: czimg_format {
        var format = czimg_format()
        format.width = UInt32(clamping: width)
        format.height = UInt32(clamping: height)
        format.family = planes.family
        if case .yCbCr(let subsampling) = planes {
            format.horizontal_log2 = UInt32(clamping: subsampling.horizontalLog2)
            format.vertical_log2 = UInt32(clamping: subsampling.verticalLog2)
            format.siting = subsampling.siting.shim
            format.matrix = matrix == .bt709 ? CZIMG_BT709 : CZIMG_BT601
        }
        format.is_limited = range == .limited ? 1 : 0
        format.bytes = UInt32(depth.bytes)
        format.left = region?.left ?? 0
        format.top = region?.top ?? 0
        format.active_width = region?.width ?? Double(width)
        format.active_height = region?.height ?? Double(height)
        return format
    }
}

extension ZimgFormat.Planes {
    fileprivate var family: czimg_family {
        switch self {
        case .grey: CZIMG_GREY
        case .rgb: CZIMG_RGB
        case .yCbCr: CZIMG_YCBCR
        }
    }
}

extension ZimgSubsampling.Siting {
    fileprivate var shim: czimg_siting {
        switch self {
        case .centre: CZIMG_SITED_CENTRE
        case .left: CZIMG_SITED_LEFT
        case .topLeft: CZIMG_SITED_TOP_LEFT
        }
    }
}

extension ZimgFilter {
    var shim: czimg_resampling {
        switch self {
        case .point: czimg_resampling(filter: CZIMG_POINT, a: 0, b: 0)
        case .bilinear: czimg_resampling(filter: CZIMG_BILINEAR, a: 0, b: 0)
        case .bicubic(let b, let c): czimg_resampling(filter: CZIMG_BICUBIC, a: b, b: c)
        case .lanczos3: czimg_resampling(filter: CZIMG_LANCZOS, a: 3, b: 0)
        }
    }
}
