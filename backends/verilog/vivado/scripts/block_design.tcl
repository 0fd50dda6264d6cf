# Puts the packaged design beside a processor and a DMA, and makes TOP.bit and TOP.hwh for PYNQ.
# Written from the public documentation of Vivado and its blocks (UG835, UG994, PG021) and linted; Vivado has never run
# this script.
#
#   processor  general-purpose port -> control -> registers of the DMA, registers of the design
#   DMA        both memory ports    -> memory  -> high-performance port 0 of the processor
#   DMA        stream out -> s_axis of the design; m_axis of the design -> stream in
set here [file dirname [file normalize [info script]]]
source [file join $here settings.tcl]
set build [file join $here build system]
set name ${top}_system
file delete -force $build

# Creates a cell of the newest version that this Vivado has of a block.
proc place_block {kind cell} {
    set found [lindex [lsort -dictionary [get_ipdefs -all "*:$kind:*"]] end]
    if {$found eq ""} {
        error "expected the block $kind in the catalogue, found none; install the part's family, or run make ip"
    }
    return [create_bd_cell -type ip -vlnv $found $cell]
}

# Connects an output to pins, each a cell and a pin.
proc drive_pins {from pins} {
    foreach pin $pins {
        connect_bd_net [get_bd_pins $from] [get_bd_pins $pin]
    }
}

# Connects two interfaces.
proc join_interfaces {from to} {
    connect_bd_intf_net [get_bd_intf_pins $from] [get_bd_intf_pins $to]
}

create_project $name $build -part $part -force
set preset 0
if {[info exists ::env(BOARD_PART)] && $::env(BOARD_PART) ne ""} {
    set_property board_part $::env(BOARD_PART) [current_project]
    set preset 1
}
set_property ip_repo_paths [file join $here build ip] [current_project]
update_ip_catalog
# A memory whose file is not found would be empty: an error, in place of a warning.
set_msg_config -id {Synth 8-4445} -new_severity ERROR
create_bd_design $name

place_block "ip:$processor" processor
if {$processor eq "processing_system7"} {
    apply_bd_automation -rule xilinx.com:bd_rule:processing_system7 \
        -config [list make_external "FIXED_IO, DDR" apply_board_preset $preset] [get_bd_cells processor]
    set_property -dict [list \
        CONFIG.PCW_USE_M_AXI_GP0 1 \
        CONFIG.PCW_USE_S_AXI_HP0 1 \
        CONFIG.PCW_S_AXI_HP0_DATA_WIDTH $bus_bits \
        CONFIG.PCW_FPGA0_PERIPHERAL_FREQMHZ $mhz \
        CONFIG.PCW_EN_CLK0_PORT 1 \
        CONFIG.PCW_EN_RST0_PORT 1 \
    ] [get_bd_cells processor]
    set clock processor/FCLK_CLK0
    set running processor/FCLK_RESET0_N
    set clocked {processor/M_AXI_GP0_ACLK processor/S_AXI_HP0_ACLK}
    set registers_port processor/M_AXI_GP0
    set memory_port processor/S_AXI_HP0
    set address_bits 32
} else {
    apply_bd_automation -rule xilinx.com:bd_rule:zynq_ultra_ps_e \
        -config [list apply_board_preset $preset] [get_bd_cells processor]
    # S_AXI_GP2 is S_AXI_HP0_FPD, M_AXI_GP0 is M_AXI_HPM0_FPD.
    set_property -dict [list \
        CONFIG.PSU__USE__M_AXI_GP0 1 \
        CONFIG.PSU__USE__M_AXI_GP1 0 \
        CONFIG.PSU__USE__M_AXI_GP2 0 \
        CONFIG.PSU__MAXIGP0__DATA_WIDTH 32 \
        CONFIG.PSU__USE__S_AXI_GP2 1 \
        CONFIG.PSU__SAXIGP2__DATA_WIDTH $bus_bits \
        CONFIG.PSU__FPGA_PL0_ENABLE 1 \
        CONFIG.PSU__CRL_APB__PL0_REF_CTRL__FREQMHZ $mhz \
    ] [get_bd_cells processor]
    set clock processor/pl_clk0
    set running processor/pl_resetn0
    set clocked {processor/maxihpm0_fpd_aclk processor/saxihp0_fpd_aclk}
    set registers_port processor/M_AXI_HPM0_FPD
    set memory_port processor/S_AXI_HP0_FPD
    set address_bits 40
}

# The DMA in direct register mode, without scatter and gather; the width of its stream in follows from m_axis.
place_block ip:axi_dma dma
set_property CONFIG.c_include_sg 0 [get_bd_cells dma]
set_property -dict [list \
    CONFIG.c_sg_length_width 26 \
    CONFIG.c_include_mm2s 1 \
    CONFIG.c_include_s2mm 1 \
    CONFIG.c_m_axi_mm2s_data_width $bus_bits \
    CONFIG.c_m_axis_mm2s_tdata_width $bus_bits \
    CONFIG.c_m_axi_s2mm_data_width $bus_bits \
    CONFIG.c_addr_width $address_bits \
] [get_bd_cells dma]
place_block ip:proc_sys_reset reset
place_block ip:smartconnect control
set_property -dict [list CONFIG.NUM_SI 1 CONFIG.NUM_MI 2] [get_bd_cells control]
place_block ip:smartconnect memory
set_property -dict [list CONFIG.NUM_SI 2 CONFIG.NUM_MI 1] [get_bd_cells memory]
place_block "user:$top" accelerator

join_interfaces $registers_port control/S00_AXI
join_interfaces control/M00_AXI dma/S_AXI_LITE
join_interfaces control/M01_AXI accelerator/s_axil
join_interfaces dma/M_AXI_MM2S memory/S00_AXI
join_interfaces dma/M_AXI_S2MM memory/S01_AXI
join_interfaces memory/M00_AXI $memory_port
join_interfaces dma/M_AXIS_MM2S accelerator/s_axis
join_interfaces accelerator/m_axis dma/S_AXIS_S2MM

drive_pins $clock $clocked
drive_pins $clock {dma/s_axi_lite_aclk dma/m_axi_mm2s_aclk dma/m_axi_s2mm_aclk}
drive_pins $clock {control/aclk memory/aclk reset/slowest_sync_clk accelerator/clk}
drive_pins $running reset/ext_reset_in
drive_pins reset/peripheral_aresetn {dma/axi_resetn control/aresetn memory/aresetn}
drive_pins reset/peripheral_reset accelerator/rst

assign_bd_address
validate_bd_design
set found [get_property CONFIG.c_s_axis_s2mm_tdata_width [get_bd_cells dma]]
if {$found != $bus_bits} {
    error "expected a stream of $bus_bits bits into the DMA, found $found; set c_s_axis_s2mm_tdata_width by hand"
}
save_bd_design
add_files -norecurse [make_wrapper -files [get_files $name.bd] -top]
set_property top ${name}_wrapper [current_fileset]
update_compile_order -fileset sources_1

launch_runs impl_1 -to_step write_bitstream -jobs 4
wait_on_run impl_1
if {[get_property PROGRESS [get_runs impl_1]] ne "100%"} {
    error "expected a bitstream, found that a run failed; see the runme.log of each run in build/system"
}
set slack [get_property STATS.WNS [get_runs impl_1]]
if {$slack < 0} {
    error "expected a design for $mhz MHz, found one that is late by [expr {-$slack}] ns; compile with a lower --mhz"
}
# The description for PYNQ lies in .gen since Vivado 2020.2, and in .srcs before.
set described {}
foreach place {gen srcs} {
    lappend described {*}[glob -nocomplain [file join $build $name.$place sources_1 bd $name hw_handoff $name.hwh]]
}
if {![llength $described]} {
    error "expected $name.hwh of the block design, found none; look for it in build/system"
}
file copy -force [lindex $described 0] [file join $here $top.hwh]
file copy -force [file join [get_property DIRECTORY [get_runs impl_1]] ${name}_wrapper.bit] [file join $here $top.bit]
close_project
