# Packages the design as a block for IP integrator, in build/ip.
# Written from the public documentation of Vivado (UG835, UG1118) and linted; Vivado has never run this script.
set here [file dirname [file normalize [info script]]]
source [file join $here settings.tcl]
set rtl [file normalize [file join $here .. rtl]]
set ip [file join $here build ip]
file delete -force $ip
file mkdir $ip

create_project packaging [file join $here build packaging] -part $part -force
add_files -norecurse [lsort [glob [file join $rtl *.v]]]
set memories [lsort [glob -nocomplain [file join $rtl *.hex]]]
if {[llength $memories]} {
    add_files -norecurse $memories
    # Files of this type lie where synthesis looks for them, by name, at $readmemh.
    set_property file_type {Memory Initialization Files} [get_files *.hex]
}
set_property top $top [current_fileset]
update_compile_order -fileset sources_1

ipx::package_project -root_dir $ip -vendor circuitize -library user -taxonomy /UserIP -import_files -force
set core [ipx::current_core]
set_property -dict [list \
    vendor circuitize \
    library user \
    name $top \
    version 1.0 \
    display_name $top \
    description "$top, made by circuitize" \
] $core

# The interfaces, by the names of their ports, and the one clock and the reset of all of them.
ipx::remove_all_bus_interface $core
ipx::infer_bus_interface $input_ports xilinx.com:interface:axis_rtl:1.0 $core
ipx::infer_bus_interface $output_ports xilinx.com:interface:axis_rtl:1.0 $core
ipx::infer_bus_interface $register_ports xilinx.com:interface:aximm_rtl:1.0 $core
ipx::infer_bus_interface clk xilinx.com:signal:clock_rtl:1.0 $core
ipx::infer_bus_interface rst xilinx.com:signal:reset_rtl:1.0 $core
foreach interface {s_axis m_axis s_axil clk rst} {
    if {[llength [ipx::get_bus_interfaces $interface -of_objects $core]] != 1} {
        error "expected the interface $interface of $top, found none; Vivado infers interfaces in another way"
    }
}
set reset [ipx::get_bus_interfaces rst -of_objects $core]
set polarity [ipx::get_bus_parameters -quiet POLARITY -of_objects $reset]
if {$polarity eq ""} {
    set polarity [ipx::add_bus_parameter POLARITY $reset]
}
set_property value ACTIVE_HIGH $polarity
foreach interface {s_axis m_axis s_axil} {
    ipx::associate_bus_interfaces -busif $interface -clock clk $core
}
ipx::associate_bus_interfaces -clock clk -reset rst $core

# The registers have 32 bytes; a block design gives them a page or more.
ipx::remove_all_memory_map $core
set map [ipx::add_memory_map s_axil $core]
set_property slave_memory_map_ref s_axil [ipx::get_bus_interfaces s_axil -of_objects $core]
set block [ipx::add_address_block registers $map]
set_property -dict [list base_address 0 range 65536 width 32 usage register] $block

ipx::create_xgui_files $core
ipx::update_checksums $core
ipx::check_integrity $core
ipx::save_core $core
close_project
